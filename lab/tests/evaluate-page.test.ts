// The page of an evaluation in a browser: narrow, wide, printed, by keyboard alone, without network.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium, type Browser, type Page } from "playwright-core";
import { LAB, PATIENCE_MS } from "./browser.ts";

const COMMAND = (process.env.ACKCLOCK ?? join(dirname(LAB), ".venv/bin/ackclock")).split(" ");
const axe = readFileSync(createRequire(join(LAB, "package.json")).resolve("axe-core/axe.min.js"), "utf8");

let folder: string;
let place: string;
let chrome: Browser;
const asked: string[] = [];

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "ackclock-evaluation-"));
  const [program, ...first] = COMMAND as [string, ...string[]];
  const words = ["evaluate", "bic", "--only", "iot,far,rtt,documents", "--against", "vegas", "-o", folder];
  execFileSync(program, [...first, ...words], { stdio: "ignore" });
  place = join(folder, "evaluation=bic");
  const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
  chrome = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
});

after(async () => {
  await chrome.close();
  rmSync(folder, { recursive: true, force: true });
});

async function open(width: number): Promise<Page> {
  const page = await chrome.newPage({ viewport: { width, height: 900 } });
  page.setDefaultTimeout(PATIENCE_MS);
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(pathToFileURL(join(place, "index.html")).href);
  return page;
}

for (const width of [1300, 400]) {
  test(`${width} px: no violations of accessibility, nothing beyond the edge`, async () => {
    const page = await open(width);
    await page.evaluate(() => document.querySelectorAll("details").forEach((one) => (one.open = true)));
    // Not as a script of the page, which its policy forbids.
    await page.evaluate(axe);
    const told = (await page.evaluate(
      `axe.run({ resultTypes: ["violations"] }).then((found) => found.violations.map((one) =>
        one.id + ": " + one.nodes.map((node) => node.html + " " + node.failureSummary).join("; ")))`,
    )) as string[];
    assert.deepEqual(told, []);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `${wide} px`);
    await page.close();
  });
}

test("every number is linked to a scenario that is there", async () => {
  const page = await open(1300);
  const cells = page.locator("td.value");
  const count = await cells.count();
  assert.ok(count > 40, `${count} numbers`);
  const links = await cells.evaluateAll((all) => all.map((one) => one.querySelector("a")?.getAttribute("href") ?? null));
  for (const link of links) {
    assert.ok(link !== null && link.endsWith(".toml"), String(link));
    assert.ok(existsSync(join(place, link)), link);
  }
  const others = await page.locator("a[href]").evaluateAll((all) => all.map((one) => one.getAttribute("href") ?? ""));
  for (const link of others.filter((one) => !one.startsWith("#"))) {
    assert.ok(existsSync(join(place, link.split("#")[0] ?? "")), link);
  }
  await page.close();
});

test("keyboard alone opens the numbers and reaches a scenario", async () => {
  const page = await open(1300);
  const focused = () => page.evaluate(() => document.activeElement?.tagName.toLowerCase() ?? "");
  let seen = "";
  for (let step = 0; step < 200 && seen !== "summary"; step += 1) {
    await page.keyboard.press("Tab");
    seen = await focused();
  }
  assert.equal(seen, "summary");
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle);
  assert.notEqual(outline, "none");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("details").first().evaluate((one) => (one as HTMLDetailsElement).open), true);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  assert.match((await page.evaluate(() => document.activeElement?.getAttribute("href"))) ?? "", /^scenarios\/.*\.toml$/);
  await page.close();
});

test("in print all numbers are there, and all pictures", async () => {
  const page = await open(794);
  await page.emulateMedia({ media: "print" });
  const hidden = await page.locator("td.value").evaluateAll((all) => all.filter((one) => !one.checkVisibility()).length);
  assert.equal(hidden, 0);
  const missing = await page.locator("img").evaluateAll((all) => all.filter((one) => (one as HTMLImageElement).loading === "lazy").length);
  assert.equal(missing, 0);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 794, `${wide} px`);
  await page.close();
});

test("nothing was asked of a network", () => {
  assert.ok(asked.length > 0);
  assert.deepEqual(asked.filter((one) => !one.startsWith("file:") && !one.startsWith("data:")), []);
});
