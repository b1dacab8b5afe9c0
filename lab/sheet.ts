// A contact sheet of figures: each in print on the left, and on the page on the right.

import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [results, target] = process.argv.slice(2);
if (results === undefined || target === undefined) throw new Error("usage: sheet.ts RESULTS SHEET.png");
/** Pairs next to each other, and pixels of each half of a pair. */
const PAIRS = 3;
const HALF = 300;

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage({ viewport: { width: 900, height: 1200 }, colorScheme: "light" });
const pairs: string[] = [];
for (const paper of readdirSync(results).filter((one) => existsSync(join(results, one, "index.html")))) {
  await page.goto(pathToFileURL(resolve(results, paper, "index.html")).href);
  await page.locator("details.artefact").evaluateAll((all) => {
    for (const one of all) (one as HTMLDetailsElement).open = true;
  });
  for (const place of await page.locator("[data-charts]").all()) {
    const name = (await place.getAttribute("data-charts")) ?? "";
    const printed = join(results, paper, name, `${name}.png`);
    if (!existsSync(printed)) throw new Error(`${printed} is missing: ackclock reproduce --pictures draws it`);
    for (const canvas of await place.locator(".canvas").all()) {
      await canvas.scrollIntoViewIfNeeded();
      await canvas.locator("canvas").waitFor();
    }
    const shown = (await place.screenshot()).toString("base64");
    const image = (png: string): string => `<img src="data:image/png;base64,${png}">`;
    pairs.push(`<figure><figcaption>${paper}/${name}</figcaption>${image(readFileSync(printed).toString("base64"))}${image(shown)}</figure>`);
  }
}
const style = `body{margin:8px;font:12px sans-serif;display:grid;grid-template-columns:repeat(${PAIRS},1fr);gap:6px}
figure{margin:0;border:1px solid #ddd;padding:4px}figcaption{font-weight:bold}img{width:${HALF}px;max-height:420px;object-fit:contain;object-position:top;vertical-align:top}`;
const sheet = await browser.newPage({ viewport: { width: PAIRS * (2 * HALF + 24) + 16, height: 1000 } });
await sheet.setContent(`<style>${style}</style>${pairs.join("")}`);
writeFileSync(target, await sheet.screenshot({ fullPage: true }));
await browser.close();
console.log(`${target}: ${pairs.length} figures`);
