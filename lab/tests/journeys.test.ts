// The journeys of docs/lab.md, as a user makes them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { Download, Page } from "playwright-core";
import { PATIENCE_MS, browser, done, heard, number, open, rerun } from "./browser.ts";
import { native } from "./native.ts";

browser();

async function text(download: Promise<Download>): Promise<string> {
  return readFileSync(await (await download).path(), "utf8");
}

/** A short run, so that the tests are. */
const SHORT = `[run]
duration = "10 s"
warmup = "2 s"
sample = "50 ms"
[tcp]
overhead = "100 us"
[dumbbell]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "droptail", limit = "50 packets" }
[[flow]]
name = "one"
controller = "reno"
rtt = "40 ms"
[[flow]]
name = "two"
controller = "cubic"
rtt = "40 ms"
`;

async function write(page: Page, toml: string): Promise<void> {
  await page.getByLabel("Scenario as TOML").fill(toml);
}

async function short(): Promise<Page> {
  const page = await open();
  await done(page);
  await rerun(page, () => write(page, SHORT));
  return page;
}

test("1. path and flows: every change runs at once", async () => {
  const page = await short();
  const digests = new Set<string>();
  const change = async (act: () => Promise<unknown>): Promise<void> => void digests.add(await rerun(page, act));
  const path = page.getByRole("region", { name: "Path" });
  const toml = page.getByLabel("Scenario as TOML");
  const exact = (label: string) => path.locator(`input.exact[aria-label="${label}"]`);
  const enter = async (label: string, value: string): Promise<void> => {
    await exact(label).fill(value);
    await exact(label).press("Enter");
  };
  await change(() => enter("rate", "5 Mbit/s"));
  assert.match(await toml.inputValue(), /rate = "5 Mbit\/s"/);
  await change(() => path.getByLabel("rate, slider").press("ArrowRight"));
  await path.getByLabel("unit of the buffer").selectOption("BDP");
  await change(() => enter("buffer", "2"));
  // 2 products of about 5 Mbit/s and 40 ms in packets of 1000 B: 2 * 5e6 * 0.04 / 8000 = 50, and a step of the slider more.
  const limit = Number(/limit = "(\d+) packets"/.exec(await toml.inputValue())?.[1]);
  assert.ok(limit >= 50 && limit <= 52, String(limit));
  await change(() => path.getByLabel("queue", { exact: true }).selectOption("red"));
  await change(() => path.getByLabel("ECN", { exact: true }).check());
  assert.match(await toml.inputValue(), /ecn = true/);
  await change(() => path.getByLabel("loss", { exact: true }).selectOption("bernoulli"));
  await change(() => enter("loss: rate", "1 %"));
  await change(() => path.getByLabel("noise of the delay").selectOption("uniform"));
  await path.getByRole("button", { name: "Add a step" }).click();
  await change(async () => {
    await path.getByLabel("at", { exact: true }).fill("5 s");
    await path.getByLabel("at", { exact: true }).press("Enter");
    await path.getByLabel("to", { exact: true }).fill("2 Mbit/s");
    await path.getByLabel("to", { exact: true }).press("Enter");
  });
  const flow = page.getByRole("group", { name: "two" });
  await change(() => flow.getByLabel("control", { exact: true }).selectOption("illinois"));
  await flow.getByText("Parameters of illinois").click();
  await change(async () => {
    await flow.locator('input.exact[aria-label="alpha_max"]').fill("5");
    await flow.locator('input.exact[aria-label="alpha_max"]').press("Enter");
  });
  assert.match(await toml.inputValue(), /alpha_max = 5/);
  await change(() => flow.locator('input[aria-label="start"]').fill("3 s").then(() => flow.locator('input[aria-label="start"]').press("Enter")));
  await change(() => page.getByRole("heading", { name: "ackclock lab" }).click().then(() => page.keyboard.press("a")));
  assert.equal(await page.locator("fieldset.flow").count(), 3);
  await change(() => page.getByRole("button", { name: /^remove illinois 3/ }).click());
  assert.ok(digests.size >= 13, String(digests.size));
  await page.close();
});

test("2. see: curves during the run, names, zoom, hover, replay", async () => {
  const page = await open();
  // Curves appear before the end: a run of an hour does not end during this test.
  await done(page);
  await write(page, SHORT.replace('"10 s"', '"3600 s"'));
  await page.locator("[data-status=running]").waitFor();
  await page.locator(".uplot").first().waitFor();
  await rerun(page, () => write(page, SHORT));
  for (const plot of ["window", "rate_mbps", "queue", "rtt_ms", "share", "internal", "phase"]) {
    assert.equal(await page.locator(`[data-plot=${plot}]`).count(), 1, plot);
  }
  const pixels = (plot: string): Promise<string> =>
    page.locator(`[data-plot=${plot}] canvas`).evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
  // On a busy machine plots take turns, so a picture may come some frames after its data.
  const drawnAnew = async (plot: string, before: string): Promise<void> => {
    const end = Date.now() + PATIENCE_MS;
    while ((await pixels(plot)) === before) {
      assert.ok(Date.now() < end, `${plot} stays as it was`);
      await page.waitForTimeout(20);
    }
  };
  const settled = async (plot: string): Promise<string> => {
    const end = Date.now() + PATIENCE_MS;
    for (let last = await pixels(plot); ; ) {
      assert.ok(Date.now() < end, `${plot} never rests`);
      await page.waitForTimeout(200);
      const now = await pixels(plot);
      if (now === last) return now;
      last = now;
    }
  };
  const whole = await settled("window");
  const names = page.getByRole("group", { name: "Flows that are shown" });
  await names.getByRole("button", { name: /^one/ }).click();
  assert.equal(await names.getByRole("button", { name: /^one/ }).getAttribute("aria-pressed"), "false");
  await drawnAnew("window", whole);
  await names.getByRole("button", { name: /^one/ }).click();
  // A drag over one plot zooms all.
  const queue = await settled("queue");
  await page.getByRole("heading", { name: "ackclock lab" }).scrollIntoViewIfNeeded();
  const box = await page.locator("[data-plot=window] .u-over").boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + 100, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + 250, box.y + 60, { steps: 4 });
  await page.mouse.up();
  await page.locator("button:enabled", { hasText: "Whole run" }).waitFor();
  await drawnAnew("queue", queue);
  await page.getByRole("button", { name: "Whole run" }).click();
  await page.mouse.move(box.x + 200, box.y + 50);
  await page.locator(".legend .time", { hasText: "at " }).waitFor();
  assert.match((await names.getByRole("button", { name: /^two/ }).textContent()) ?? "", /packets, .* Mbit\/s, .* ms/);
  // Replay: back to the beginning, forward by round trips, pause.
  await page.getByLabel("time of the replay").fill("2");
  await page.getByRole("button", { name: "+1 RTT: forward by a round trip" }).click();
  const time = Number(await page.getByLabel("time of the replay").inputValue());
  assert.ok(time > 2 && time < 2.2, String(time));
  await page.getByLabel("speed").selectOption("2");
  await page.getByRole("button", { name: "Play" }).click();
  await page.waitForFunction((from) => Number(document.querySelector<HTMLInputElement>("input.time")?.value) > from, time);
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Play" }).waitFor();
  const paused = await page.getByLabel("time of the replay").inputValue();
  await page.waitForTimeout(100);
  assert.equal(await page.getByLabel("time of the replay").inputValue(), paused);
  await page.getByRole("button", { name: "End" }).click();
  await page.close();
});

test("3. numbers: shares add up, the formula is that of the papers", async () => {
  const page = await short();
  const alone = SHORT.slice(0, SHORT.lastIndexOf("[[flow]]"));
  await rerun(page, () => write(page, alone.replace('"10 s"', '"100 s"').replace("[[flow]]", 'loss = { kind = "periodic", every = 1000 }\n[[flow]]')));
  assert.equal(await number(page, "Numbers per flow", "one", "share"), "100");
  // Reno, sqrt(3/(2p)) packets per round trip, p = 1/1000 at most: the formula and the goodput lie within a fifth, because
  // recovery takes a round trip of about 29 and the window is counted in whole packets.
  const goodput = Number(await number(page, "Numbers per flow", "one", "goodput"));
  const formula = Number(await number(page, "Numbers per flow", "one", "formula"));
  assert.ok(Math.abs(goodput / formula - 1) < 0.2, `${goodput} ${formula}`);
  assert.equal(await page.locator("[data-number=jain]").textContent(), "1");
  await page.close();
});

test("4. compare: a kept run stays behind, with differences", async () => {
  const page = await short();
  await page.getByRole("button", { name: "Keep this run to compare" }).click();
  await rerun(page, () => page.getByRole("group", { name: "two" }).getByLabel("control", { exact: true }).selectOption("reno"));
  assert.match(await number(page, "Numbers per flow", "one", "goodput"), /[+−]/);
  const numbers = await page.locator(".difference").count();
  assert.ok(numbers > 5, String(numbers));
  await page.getByRole("button", { name: "Forget the kept run" }).click();
  assert.equal(await page.locator(".difference").count(), 0);
  await page.close();
});

test("5. presets: paths with sources, figures with claims and verdicts", async () => {
  const page = await open();
  await done(page);
  await rerun(page, () => page.getByLabel("preset", { exact: true }).selectOption("LTE trace"));
  assert.match((await page.locator(".about").textContent()) ?? "", /Mahimahi/);
  await page.getByLabel("presets of").selectOption({ index: 1 });
  await page.getByLabel("preset", { exact: true }).selectOption({ label: "Figure 8: window curves of one flow" });
  await page.locator(".about", { hasText: "Our verdict" }).waitFor();
  await page.locator("[data-status=running], [data-status=done]").waitFor();
  await rerun(page, () => page.getByLabel("case").selectOption({ index: 1 }));
  await page.close();
});

test("6. a user's own control runs like the others, with errors at their lines", async () => {
  const page = await short();
  await page.getByText("Write a control").click();
  const editor = page.getByLabel("Control in JavaScript");
  const act = (): Promise<void> => page.getByRole("button", { name: "Run this control" }).click();
  await page.getByRole("button", { name: "Reno", exact: true }).click();
  await act();
  // It is the built-in Reno packet by packet, so the digest stays: the scenario shows which control ran.
  const end = Date.now() + PATIENCE_MS;
  while (!(await page.getByLabel("Scenario as TOML").inputValue()).includes('"own"')) {
    assert.ok(Date.now() < end, "the control is never run");
    await page.waitForTimeout(20);
  }
  await done(page);
  // Reno in JavaScript is the built-in Reno, packet by packet: the runs have the same digest.
  const seeded = SHORT.replace("[run]", "[run]\nseed = 7").replace('"cubic"', '"reno"');
  const own = await rerun(page, () => write(page, seeded.replaceAll('"reno"', '"own"')));
  await rerun(page, () => write(page, SHORT));
  const builtIn = await rerun(page, () => write(page, seeded));
  assert.equal(own.length, 16);
  assert.equal(own, builtIn);
  await write(page, SHORT.replace('"cubic"', '"own"'));
  const alert = page.locator("p.wrong");
  const reno = await editor.inputValue();
  await editor.fill(reno.replace("onLoss(loss) {", "onLoss(loss) {\n    missing();"));
  await act();
  const line = reno.slice(0, reno.indexOf("onLoss(")).split("\n").length + 1;
  await alert.filter({ hasText: `line ${line}: ReferenceError: missing is not defined` }).waitFor();
  await editor.fill("class Control {\n  onAck(ack) { this.window +; }\n}");
  await act();
  await alert.filter({ hasText: "line 2: SyntaxError" }).waitFor();
  await editor.fill("class Control {\n  onAck(ack) {\n}");
  await act();
  await alert.filter({ hasText: "line 3: SyntaxError" }).waitFor();
  await editor.fill(reno.replace("onAck(ack) {", "onAck(ack) {\n    for (;;);"));
  await act();
  await alert.filter({ hasText: "the control was stopped" }).waitFor();
  // The page is alive, and the run that was requested while the previous one hung is not stopped.
  await act();
  await page.waitForTimeout(300);
  await editor.fill(reno);
  await rerun(page, act);
  await page.getByRole("button", { name: "Illinois", exact: true }).click();
  await rerun(page, act);
  assert.ok((await page.getByLabel("inside the controls").locator("option").allTextContents()).includes("alpha"));
  await page.close();
});

test("7. take it along: TOML both ways, link, CSV, pictures, commands", async () => {
  const page = await short();
  const download = async (name: string): Promise<string> => {
    const waiting = page.waitForEvent("download");
    await page.getByRole("button", { name, exact: true }).click();
    return text(waiting);
  };
  assert.match(await download("TOML"), /controller = "cubic"/);
  const csv = (await download("CSV")).trimEnd().split("\n");
  assert.match(csv[0] ?? "", /^time_s,flow,window,/);
  // 10 s in samples of 50 ms for two flows, and the heading.
  assert.equal(csv.length, 2 * 200 + 1);
  assert.match(await download("Queue as SVG"), /^<svg .*<\/svg>\n$/s);
  assert.match(await download("Phase plane as SVG"), /^<svg .*one: goodput.*<\/svg>\n$/s);
  assert.match(await download("Queue as PNG"), /PNG/);
  assert.match(await download("Phase plane as PNG"), /PNG/);
  await write(page, SHORT.replace('"50 packets"', '"50 parcels"'));
  await page.locator("p.wrong", { hasText: /^scenario:10: / }).waitFor();
  assert.equal(await page.locator(".editor pre .wrong").first().textContent(), "10\n");
  const digest = await rerun(page, () => write(page, SHORT.replace("40 ms", "41 ms")));
  await page.waitForFunction(() => location.hash.startsWith("#s="));
  await page.waitForTimeout(500);
  const other = await open({ fragment: await page.evaluate(() => location.hash) });
  await done(other);
  assert.equal(await other.locator("[data-number=digest]").textContent(), digest);
  await other.close();
  await page.getByText("The same on the command line").click();
  await page.getByText("ackclock simulate scenario.toml").waitFor();
  const named = 'path = "dsl"\n[run]\nduration = "2 s"\n[[flow]]\ncontroller = "cubic"\n';
  const shown = await rerun(page, () => write(page, named));
  await page.getByText("This is the named path dsl").waitFor();
  // The engine outside of the page reads the exported file, and its run is the same.
  const exported = { text: await download("TOML"), isJson: false, files: {} };
  assert.deepEqual(native("digests", [exported]), [shown]);
  await page.close();
});

test("no journey has asked for the network, and the browser had no complaint", () => {
  const outside = heard.requests.filter((address) => !/^(file|blob|data):/.test(address));
  assert.deepEqual(outside, []);
  // The exception that the test makes a control throw is reported.
  const errors = heard.errors.filter((error) => !/SyntaxError/.test(error));
  assert.deepEqual(errors, []);
});
