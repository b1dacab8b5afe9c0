// Pages of results, opened as by a reader who got them by mail.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Locator, Page } from "playwright-core";
import { charts } from "../charts.ts";
import { LAB, browser, heard, open } from "./browser.ts";

browser();

const ROOT = dirname(LAB);
const COMMAND = (process.env.ACKCLOCK ?? join(ROOT, ".venv/bin/ackclock")).split(" ");
const AXE = readFileSync(join(LAB, "node_modules/axe-core/axe.min.js"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "ackclock-charts-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function ackclock(...words: string[]): void {
  const [program, ...first] = COMMAND as [string, ...string[]];
  execFileSync(program, [...first, ...words], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
}

const HOSTILE = "</script><img src=x onerror=alert(1)>";
const SCENARIO = `[run]
duration = "20 s"
sample = "20 ms"
[dumbbell]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "droptail", limit = "50 packets" }
loss = { kind = "bernoulli", rate = 0 }
[[flow]]
name = "${HOSTILE}"
controller = "reno"
rtt = "40 ms"
[[flow]]
name = "two"
controller = "cubic"
rtt = "40 ms"
`;
/** Pages: what makes them, and how many charts they have. */
const PAGES = {
  run: { file: "run/index.html", make: ["simulate", "run.toml", "-o", "run", "--quiet"], charts: 5 },
  comparison: {
    file: "comparison/index.html",
    make: ["compare", "reno", "cubic", "--rate", "2mbit", "--rtt", "40ms", "--duration", "10s", "--runs", "2", "-o", "comparison"],
    // Goodput against delay, thirteen questions, four over time.
    charts: 18,
  },
  sweep: {
    file: "loss.html",
    make: ["plot", "results", "--x", "p", "--y", "goodput", "--hue", "control", "-o", "loss.html"],
    charts: 11,
  },
  evaluation: {
    file: "evaluation=htcp/index.html",
    make: ["evaluate", "htcp", "--only", "iot,datacentre", "-o", "."],
    // One of each, and the tail of the completion times of either number of senders.
    charts: 4,
  },
  reproduction: {
    file: "papers/transient/index.html",
    make: ["reproduce", "transient/figure-29", "transient/section-b", "--quick", "-o", "papers"],
    charts: 1,
  },
};
const SWEEP = `scenario = "run.toml"
[parameters]
p = { set = ["dumbbell.loss.rate"], to = [0.0001, 0.001, 0.01] }
control = { set = "flow.*.controller", to = ["reno", "fit"] }
[runs]
count = 2
`;

before(() => {
  writeFileSync(join(folder, "run.toml"), SCENARIO);
  writeFileSync(join(folder, "loss.toml"), SWEEP);
  ackclock("sweep", "loss.toml");
  for (const { make } of Object.values(PAGES)) ackclock(...make);
});

async function shown(name: keyof typeof PAGES, width = 1300, scheme: "light" | "dark" = "light"): Promise<Page> {
  const page = await open({ width, scheme, address: pathToFileURL(join(folder, PAGES[name].file)).href });
  // The artefacts of a paper are folded.
  await page.locator("details.artefact").evaluateAll((all) => {
    for (const one of all) (one as HTMLDetailsElement).open = true;
  });
  // Charts far from the window are drawn when it comes near them.
  await page.locator(".chart").first().scrollIntoViewIfNeeded();
  await page.locator(".chart canvas").first().waitFor();
  return page;
}

const over = (page: Page, chart: string): Locator => page.locator(`[data-chart="${chart}"] .u-over`);

/** Points at a share of the width of a chart, and gives what is read in a chart. */
async function pointed(page: Page, at: string, share: number, read = at): Promise<string> {
  await over(page, at).scrollIntoViewIfNeeded();
  const box = await over(page, at).boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + box.width * share, box.y + box.height / 2);
  return page.locator(`[data-chart="${read}"]:visible .readout`).innerText();
}

async function dragged(page: Page, chart: string, from: number, to: number): Promise<void> {
  const box = await over(page, chart).boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + box.width * from, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * to, box.y + 40, { steps: 5 });
  await page.mouse.up();
}

const seconds = (text: string): number => Number(/^([0-9.]+) s/.exec(text)?.[1]);

test("the file that is checked in is what its sources build", async () => {
  assert.equal(readFileSync(join(ROOT, "python/ackclock/draw/charts.js"), "utf8"), await charts(LAB));
});

test("hover reads all charts at one time, as the samples of the run have it", async () => {
  const page = await shown("run");
  const text = await pointed(page, "window", 0.5);
  const data = await page.evaluate(() => JSON.parse(document.getElementById("charts-data")?.textContent ?? ""));
  const series = data.groups.run.charts[0].series[1];
  const time = data.columns[series.x] as number[];
  const last = time.findLastIndex((one) => one <= seconds(text) + 1e-9);
  const expected = Number((data.columns[series.y][last] as number).toPrecision(4));
  assert.ok(Math.abs(seconds(text) - 10) < 0.1, text);
  assert.ok(text.includes(HOSTILE) && text.includes(`two ${expected} packets`), `${text}; expected ${expected}`);
  for (const other of ["goodput", "queue", "rtt_ms"]) {
    // A hundred parts of a run of 20 s have ends 0.2 s apart.
    assert.ok(Math.abs(seconds(await pointed(page, "window", 0.5, other)) - 10) <= 0.2, other);
  }
  await page.close();
});

test("a drag zooms all charts together, a double click and a button show all again", async () => {
  const page = await shown("run");
  await dragged(page, "window", 0.25, 0.5);
  for (const chart of ["window", "rtt_ms"]) {
    const [first, last] = [await pointed(page, chart, 0.01), await pointed(page, chart, 0.99)].map(seconds);
    assert.ok(Math.abs((first as number) - 5) < 0.2 && Math.abs((last as number) - 10) < 0.2, `${first} to ${last}`);
  }
  await over(page, "rtt_ms").dblclick();
  assert.ok(seconds(await pointed(page, "window", 0.99)) > 19);
  await page.getByRole("button", { name: "Zoom in" }).click();
  await page.getByRole("button", { name: "Show all" }).click();
  assert.ok(seconds(await pointed(page, "queue", 0.99)) > 19);
  assert.equal(await page.getByRole("button", { name: "Show all" }).isDisabled(), true);
  await page.close();
});

test("names hide and show their curves everywhere", async () => {
  const page = await shown("run");
  const two = page.getByRole("button", { name: "two", exact: true });
  await two.click();
  assert.equal(await two.getAttribute("aria-pressed"), "false");
  for (const chart of ["window", "goodput", "rtt_ms"]) assert.doesNotMatch(await pointed(page, chart, 0.4), /two/);
  await two.dblclick();
  assert.match(await pointed(page, "window", 0.4), /^[^\n]+\n+two [^\n]+$/);
  await page.close();
});

test("the keyboard reads and zooms", async () => {
  const page = await shown("run");
  await page.locator('[data-chart="window"] .canvas').focus();
  for (let press = 0; press < 10; press += 1) await page.keyboard.press("ArrowRight");
  const readout = page.locator('[data-chart="window"] .readout');
  const before = seconds(await readout.innerText());
  // Ten steps of a hundredth of 20 s.
  assert.ok(Math.abs(before - 2) < 0.2, String(before));
  await page.keyboard.press("+");
  await page.keyboard.press("ArrowRight");
  assert.ok(seconds(await readout.innerText()) - before < 0.2);
  await page.close();
});

test("a point of a comparison says what the table says", async () => {
  const page = await shown("comparison");
  const cell = await page.locator("tr", { hasText: "queueing delay alone, mean" }).first().locator("td").nth(1).innerText();
  const chart = over(page, "delay");
  // Charts far from the window have not been drawn.
  await page.locator('[data-chart="delay"]').scrollIntoViewIfNeeded();
  await chart.waitFor();
  const box = await chart.boundingBox();
  assert.ok(box);
  // Reno is the upper of two names; its mean is somewhere on that line.
  let text = "";
  for (let x = 0; x < box.width && !text.includes("mean"); x += 2) {
    await page.mouse.move(box.x + x, box.y + box.height / 4);
    text = await page.locator('[data-chart="delay"] .readout').textContent() ?? "";
  }
  const [, value] = /^meanreno ([-0-9.]+)/.exec(text) ?? [];
  const shownAs = /^([-0-9.]+)/.exec(cell)?.[1] ?? "";
  // Both are rounded, each to places of its own: half a unit of the last place each.
  const half = (number: string): number => 0.5 * 10 ** -(number.split(".")[1]?.length ?? 0);
  const apart = Math.abs(Number(value) - Number(shownAs));
  assert.ok(apart <= half(value ?? "") + half(shownAs) + 1e-9, `${text}; ${cell}`);
  await page.close();
});

test("a point of a sweep is read with its interval, at the nearest value", async () => {
  const page = await shown("sweep");
  const row = await page.locator("tbody tr", { hasText: "0.001" }).filter({ hasText: "fit" }).locator("td").allInnerTexts();
  // On a logarithmic axis 0.001 is in the middle of 0.0001 to 0.01.
  const text = await pointed(page, "goodput_mbps", 0.52);
  assert.match(text, /^0.001\n/);
  assert.ok(text.includes(`fit ${row[2]} Mbit/s [${row[3]}, ${row[4]}]`), `${text}; ${row}`);
  await page.close();
});

test("a reproduction is searched, and shows what does not hold", async () => {
  const page = await shown("reproduction");
  // Figure 29 holds; the main claim of section B is stated by claims of table 1, which was not run.
  const shownNow = (): Promise<string[]> =>
    page.locator(".artefact:visible").evaluateAll((found) => found.map((one) => one.id));
  assert.deepEqual(await shownNow(), ["figure-29", "section-b"]);
  await page.getByRole("checkbox").check();
  assert.deepEqual(await shownNow(), ["section-b"]);
  await page.getByRole("checkbox").uncheck();
  await page.getByRole("searchbox").fill("figure 29 CoV");
  assert.deepEqual(await shownNow(), ["figure-29"]);
  assert.equal(await page.locator(".finder output").textContent(), "1 of 2");
  await page.close();
});

test("a tile of the map leads to its artefact, which is open, by mouse and by an old address", async () => {
  const map = pathToFileURL(join(folder, "papers/index.html")).href;
  for (const [width, scheme] of [[1300, "light"], [400, "dark"]] as const) {
    heard.errors.length = 0;
    const page = await open({ width, scheme, address: `${map}#transient/figure-29` });
    await page.evaluate(AXE);
    const violations = "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`))";
    assert.deepEqual(await page.evaluate(violations), []);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
    const tile = page.locator(".tile:target");
    // Its group is said, not only coloured, and its picture is drawn.
    assert.match(await tile.innerText(), /Figure 29\s+holds/);
    assert.ok((await tile.locator("polyline, rect, circle").count()) > 0);
    await tile.click();
    await page.waitForURL("**/transient/index.html#figure-29");
    assert.deepEqual(await page.locator(".artefact[open]").evaluateAll((all) => all.map((one) => one.id)), ["figure-29"]);
    await page.locator(".artefact[open] canvas").first().waitFor();
    assert.deepEqual(heard.errors, []);
    await page.close();
  }
});

for (const name of Object.keys(PAGES) as (keyof typeof PAGES)[]) {
  test(`the page of ${name} is whole, for everyone, without a network`, async () => {
    const { file, charts: expected } = PAGES[name];
    assert.ok(readFileSync(join(folder, file)).length < 1.5e6);
    for (const [width, scheme] of [[1300, "light"], [400, "dark"]] as const) {
      heard.errors.length = heard.requests.length = 0;
      const page = await shown(name, width, scheme);
      // A sweep's reader chooses one of several sets of curves.
      assert.equal(await page.locator(".chart:visible").count(), expected);
      for (const chart of await page.locator(".chart:visible").all()) {
        await chart.scrollIntoViewIfNeeded();
        await chart.locator("canvas").waitFor();
      }
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= width);
      const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.equal(ground, scheme === "dark" ? "rgb(21, 24, 27)" : "rgb(255, 255, 255)");
      assert.deepEqual(heard.errors, []);
      const outside = heard.requests.filter((one) => !one.startsWith("data:") && !one.endsWith(file));
      assert.deepEqual(outside, []);
      await page.evaluate(AXE);
      const found = await page.evaluate("axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`))");
      assert.deepEqual(found, []);
      await page.close();
    }
  });

  test(`the page of ${name} prints all its charts on light ground, as wide as the paper`, async () => {
    const { charts: expected } = PAGES[name];
    const page = await shown(name, 1300, "dark");
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize({ width: 700, height: 1000 });
    await page.waitForFunction((count) => {
      const drawn = [...document.querySelectorAll(".canvas canvas")].filter((canvas) => canvas.getClientRects().length > 0);
      return drawn.length === count;
    }, expected);
    const fits = await page.locator(".canvas canvas:visible").evaluateAll((all) => all.filter((canvas) => canvas.getBoundingClientRect().right <= 700).length);
    assert.equal(fits, expected);
    const ink = await page.locator(".canvas").first().evaluate((host) => {
      const { axes } = (host as unknown as { plot: { axes: { stroke: () => string }[] } }).plot;
      return axes[0]?.stroke();
    });
    assert.equal(ink, "#1a1a1a");
    assert.equal(await page.locator(".legend .zoom").first().isVisible(), false);
    await page.close();
  });
}
