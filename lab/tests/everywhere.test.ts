// From everywhere into the laboratory: the verb, the page of a reproduction and the page of a comparison.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { LAB, browser, done, open } from "./browser.ts";

browser();

const ROOT = dirname(LAB);
/** The command, which a checkout has after `make setup`. */
const COMMAND = (process.env.ACKCLOCK ?? join(ROOT, ".venv/bin/ackclock")).split(" ");
const folder = mkdtempSync(join(tmpdir(), "ackclock-everywhere-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function ackclock(...words: string[]): string {
  const [program, ...first] = COMMAND as [string, ...string[]];
  return execFileSync(program, [...first, ...words], { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

const digestOf = (file: string): string => JSON.parse(ackclock("simulate", file, "--json")).digest;

async function digestIn(page: Page): Promise<string | null> {
  await done(page);
  return page.locator("[data-number=digest]").textContent();
}

test("8. the verb opens a scenario, its trace with it", async () => {
  const scenario = join(ROOT, "scenarios/cellular.toml");
  const address = ackclock("lab", scenario, "-o", join(folder, "lab.html")).trim();
  const page = await open();
  await page.goto(address);
  assert.equal(await digestIn(page), digestOf(scenario));
  await page.close();
});

for (const [name, words, shown, scenario] of [
  ["reproduction", ["reproduce", "fit/figure-2", "--quick"], "fit/index.html", /figure-2\/scenarios\/[^"]+/],
  ["comparison", ["compare", "reno", "--rate", "2mbit", "--rtt", "40ms", "--duration", "10s", "--runs", "1"], "index.html", /scenarios\/alone-reno\.json/],
] as const) {
  test(`8. the page of a ${name} opens its scenarios`, async () => {
    const results = join(folder, name);
    ackclock(...words, "-o", results);
    const [file] = scenario.exec(readFileSync(join(results, shown), "utf8")) ?? [];
    assert.ok(file);
    const page = await open();
    await page.goto(pathToFileURL(join(results, shown)).href);
    for (const folded of await page.locator("details").all()) await folded.evaluate((one) => one.setAttribute("open", ""));
    const item = page.locator("li", { has: page.locator(`a[href="${file}"]`) });
    await item.getByRole("link", { name: "Open in the lab" }).first().click();
    assert.equal(await digestIn(page), digestOf(join(results, dirname(shown), file)));
    await page.close();
  });
}
