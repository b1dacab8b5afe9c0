// Screenshots of the page for inspection; with UPDATE_DOCS=1 the pictures of docs/lab.md.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { LAB, browser, done, open, rerun } from "./browser.ts";

browser();

const built = join(LAB, "tests/built");
const folder = process.env.UPDATE_DOCS ? join(dirname(LAB), "docs/images") : built;
mkdirSync(built, { recursive: true });

for (const [name, width, scheme] of [
  ["lab", 1400, "light"],
  ["lab-dark", 1400, "dark"],
  ["lab-narrow", 390, "light"],
] as const) {
  test(name, async () => {
    const page = await open({ width, scheme });
    await done(page);
    await page.waitForTimeout(300);
    const height = width < 500 ? 1500 : 980;
    await page.setViewportSize({ width, height });
    await page.waitForTimeout(300);
    await page.screenshot({ path: join(name === "lab" ? folder : built, `${name}.png`) });
    await page.close();
  });
}

test("lab-compare", async () => {
  const page = await open();
  await done(page);
  await page.getByRole("button", { name: "Keep this run to compare" }).click();
  const first = page.locator("fieldset.flow").first();
  await rerun(page, () => first.getByLabel("control", { exact: true }).selectOption("illinois"));
  await page.setViewportSize({ width: 1400, height: 1500 });
  await page.evaluate(() => scrollTo(0, 0));
  await page.waitForTimeout(300);
  await page.screenshot({ path: join(folder, "lab-compare.png") });
  await page.close();
});

test("in print there are curves and numbers, and no forms", async () => {
  const page = await open();
  await done(page);
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator(".forms").isVisible(), false);
  assert.equal(await page.locator(".plots").isVisible(), true);
  await page.setViewportSize({ width: 794, height: 1123 });
  await page.waitForTimeout(300);
  await page.screenshot({ path: join(LAB, "tests/built/print.png"), fullPage: true });
  await page.pdf({ path: join(LAB, "tests/built/print.pdf"), format: "A4", printBackground: true });
  await page.close();
});
