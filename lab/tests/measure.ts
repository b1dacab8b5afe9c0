// How fast the page is, and how large: printed, never asserted. `npm run measure`, on an idle machine.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { deflateRawSync } from "node:zlib";
import { Run, Scenario, initSync, register } from "../engine/engine.js";
import { BASE } from "../src/own.ts";
import { LAB, browser, done, open, rerun } from "./browser.ts";

browser();

const say = (what: string, value: number | undefined, unit: string): void =>
  console.log(`${what}: ${value === undefined ? "-" : Number(value.toPrecision(3))} ${unit}`);
const pack = (scenario: unknown): string => `#s=${deflateRawSync(JSON.stringify({ scenario })).toString("base64url")}`;
const path = { rate: "100 Mbit/s", delay: "20 ms", queue: { kind: "droptail", limit: "500 packets" } };
const flow = (controller: string) => ({ controller, rtt: "80 ms" });
const four = { run: { duration: "60 s" }, dumbbell: path, flow: ["reno", "cubic", "illinois", "bbr3"].map(flow) };

test("measure", async () => {
  for (const file of readdirSync(join(LAB, "dist"))) {
    say(`${file}, gzipped`, gzipSync(readFileSync(join(LAB, "dist", file)), { level: 9 }).length / 1e6, "MB");
  }
  const page = await open({ fragment: pack(four) });
  await done(page);
  // From a change to the first curve of its run, and to its end, as the page sees them.
  for (const repetition of [1, 2, 3]) {
    await rerun(page, async () => {
      await page.evaluate(() => {
        const began = performance.now();
        const seen = { first: 0, frames: 0 };
        let hasBegun = false;
        const status = document.querySelector("[data-status]");
        const watch = (): void => {
          seen.frames += 1;
          const now = status?.getAttribute("data-status");
          if (seen.first === 0 && now === "running" && !status?.textContent?.includes(" 0.0 s")) seen.first = performance.now() - began;
          hasBegun ||= now === "running";
          const ended = now === "done" && hasBegun;
          if (ended) Object.assign(window, { measured: { ...seen, end: performance.now() - began } });
          else requestAnimationFrame(watch);
        };
        const rate = document.querySelector<HTMLInputElement>('input.exact[aria-label="rate"]');
        if (rate) rate.value = rate.value === "100 Mbit/s" ? "101 Mbit/s" : "100 Mbit/s";
        rate?.dispatchEvent(new Event("change", { bubbles: true }));
        requestAnimationFrame(watch);
      });
    });
    await page.waitForFunction(() => "measured" in window);
    const measured = await page.evaluate(() => {
      const found = (window as unknown as { measured: { first: number; end: number; frames: number } }).measured;
      delete (window as unknown as { measured?: unknown }).measured;
      return found;
    });
    say(`run ${repetition}: first curve after`, measured.first, "ms");
    say(`run ${repetition}: 60 s of four flows at 100 Mbit/s after`, measured.end / 1e3, "s");
    say(`run ${repetition}: pictures per second while it runs`, measured.frames / (measured.end / 1e3), "");
  }
  const memory = (): Promise<number> =>
    page.evaluate(() => (performance as unknown as { memory: { usedJSHeapSize: number } }).memory.usedJSHeapSize / 1e6);
  say("memory of the page after a run of 60 s", await memory(), "MB");
  await rerun(page, async () => {
    const run = page.locator('input.exact[aria-label="run"]');
    await run.fill("1200 s");
    await run.press("Enter");
  });
  say("memory of the page after a run of 1200 s", await memory(), "MB");
  await page.close();
});

/** Nanoseconds of processor time per packet of 30 s of a flow at 100 Mbit/s. */
function packetTime(controller: string): number {
  const alone = { run: { duration: "30 s" }, dumbbell: path, flow: [flow(controller)] };
  const run = new Run(Scenario.read(JSON.stringify(alone), true, "{}"), 0, false);
  const before = process.cpuUsage();
  while (!run.advance(1_000_000));
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1e3) / run.packets();
}

test("measure a control that is written in the page", () => {
  initSync({ module: readFileSync(join(LAB, "engine/engine_bg.wasm")) });
  const text = `class Control extends Base {
    onAck(ack) { const growth = this.grow(ack); this.window += growth / this.window; }
    onLoss(loss) { this.cutTo(this.window / 2); }
  }`;
  register(new Function(`"use strict"; ${BASE} ${text}; return Control;`)() as never);
  packetTime("reno");
  for (const repetition of [1, 2, 3]) {
    const [builtIn, own] = [packetTime("reno"), packetTime("own")];
    say(`pair ${repetition}: time per packet with an own Reno over the built-in one`, own / builtIn, "");
  }
});
