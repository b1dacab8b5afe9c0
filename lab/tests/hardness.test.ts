// Hard cases of the page: broken links, impossible scenarios, readers without a mouse, narrow and dark pages.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import type { Page } from "playwright-core";
import papers from "../src/data/papers.json";
import paths from "../src/data/paths.json";
import { LAB, browser, done, open, rerun } from "./browser.ts";
import { Scenario, initSync } from "../engine/engine.js";

browser();

const pack = (value: unknown): string => `#s=${deflateRawSync(JSON.stringify(value)).toString("base64url")}`;

const SMALL = {
  run: { duration: "5 s" },
  dumbbell: { rate: "5 Mbit/s", delay: "10 ms", queue: { kind: "droptail", limit: "20 packets" } },
  flow: [{ controller: "reno" }],
};

const alert = (page: Page, text: string | RegExp) => page.locator("p.wrong", { hasText: text });

test("broken links say so, and the page begins with its own example", async () => {
  const whole = pack({ scenario: SMALL });
  for (const fragment of [whole.slice(0, -9), "#s=%%%", "#s=", pack([1]), pack({ scenario: 3 }), `#s=${"A".repeat(20000)}`]) {
    const page = await open({ fragment });
    await alert(page, "This link cannot be read").waitFor();
    await done(page);
    await page.close();
  }
  // A link whose content is too large when it is unpacked.
  const page = await open({ fragment: pack({ scenario: { text: "x".repeat(5e6) } }) });
  await alert(page, "This link cannot be read").waitFor();
  await page.close();
});

test("impossible scenarios are refused in the engine's words", async () => {
  for (const [scenario, words] of [
    [{ ...SMALL, flow: [{ controller: "renoo" }] }, /unknown .*renoo|renoo/],
    [{ ...SMALL, dumbbell: { ...SMALL.dumbbell, rate: "-3 Mbit/s" } }, /dumbbell\.rate/],
    [{ ...SMALL, flow: [] }, /flow/],
    [{ ...SMALL, dumbbell: { ...SMALL.dumbbell, rate: undefined, rate_trace: "/etc/passwd" } }, /passwd.*(not given|no disk)/],
    [{ ...SMALL, flow: [{ controller: "reno", transport: "quic" }] }, /quic/i],
    [{ ...SMALL, flow: [{ controller: "reno", count: 100_000 }] }, /100000 flows are too many for a page/],
    [{ ...SMALL, flow: [{ controller: "reno", count: 100_001 }] }, /count/],
  ] as const) {
    const page = await open({ fragment: pack({ scenario }) });
    await alert(page, words).waitFor();
    // The page is alive.
    await page.getByLabel("Scenario as TOML").fill('[run]\nduration = "1 s"\n[dumbbell]\nrate = "1 Mbit/s"\ndelay = "5 ms"\nqueue = { kind = "droptail", limit = "9 packets" }\n[[flow]]\ncontroller = "reno"\n');
    await done(page);
    await page.close();
  }
});

test("a control out of a link waits for the reader", async () => {
  const control = "class Control { constructor() { this.window = 7; } onAck() {} onLoss() {} onTimeout() {} }";
  const scenario = { ...SMALL, flow: [{ controller: "own" }] };
  const page = await open({ fragment: pack({ scenario, control }) });
  const asks = page.getByRole("alertdialog");
  await asks.waitFor();
  assert.equal(await asks.locator("pre").textContent(), control);
  await page.waitForTimeout(500);
  assert.equal(await page.locator("[data-status=loading]").count(), 1);
  await asks.getByRole("button", { name: "Run it" }).click();
  await done(page);
  await page.close();
  const other = await open({ fragment: pack({ scenario, control }) });
  await other.getByRole("button", { name: "Leave it out" }).click();
  await alert(other, /own/).waitFor();
  await other.close();
});

test("a control has neither the page nor the network", async () => {
  const reach = `class Control {
    constructor() {
      if (typeof document !== "undefined") throw new Error("it has the page");
      fetch("https://example.org/").then(() => console.error("it has the network"), () => undefined);
      try { new WebSocket("wss://example.org/"); } catch (error) { this.kept = true; }
      this.window = 7;
    }
    onAck() {} onLoss() {} onTimeout() {}
  }`;
  const page = await open({ fragment: pack({ scenario: { ...SMALL, flow: [{ controller: "own" }] }, control: reach }) });
  const asked: string[] = [];
  const refused: string[] = [];
  page.on("request", (request) => void (/^(https|wss)/.test(request.url()) && asked.push(request.url())));
  page.on("console", (message) => void refused.push(message.text()));
  page.on("worker", (worker) => worker.on("close", () => undefined));
  await page.getByRole("button", { name: "Run it" }).click();
  await done(page);
  await page.waitForTimeout(300);
  assert.deepEqual(asked, []);
  assert.ok(!refused.some((text) => text.includes("it has")), refused.join("\n"));
  // The page itself has no network either, nor eval.
  const outcome = await page.evaluate(async () => {
    const fetched = await fetch("https://example.org/").then(() => "fetched", () => "refused");
    return fetched;
  });
  assert.equal(outcome, "refused");
  const policy = (await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute("content")) ?? "";
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /connect-src 'none'/);
  assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'|https?:/);
  await page.close();
});

test("keyboard alone", async () => {
  const page = await open();
  await done(page);
  const focused = (): Promise<string> =>
    page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent?.slice(0, 40) ?? "");
  const reach = async (name: string): Promise<void> => {
    for (let presses = 0; presses < 200; presses += 1) {
      if ((await focused()) === name) return;
      await page.keyboard.press("Tab");
    }
    assert.fail(`Tab does not come to ${name}`);
  };
  await reach("rate, slider");
  await rerun(page, () => page.keyboard.press("ArrowLeft"));
  await reach("Add a flow (a)");
  await rerun(page, () => page.keyboard.press("Enter"));
  await reach("Zoom in");
  await page.keyboard.press("Space");
  await page.locator("button:enabled", { hasText: "Whole run" }).waitFor();
  await reach("Keep this run to compare");
  await page.keyboard.press("Enter");
  await page.getByText("Forget the kept run").waitFor();
  // The editors let go of the focus.
  await reach("Scenario as TOML");
  await page.keyboard.press("Tab");
  assert.notEqual(await focused(), "Scenario as TOML");
  await page.close();
});

const axe = readFileSync(createRequire(join(LAB, "package.json")).resolve("axe-core/axe.min.js"), "utf8");

interface Found {
  violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[];
}

for (const width of [1400, 390]) {
  for (const scheme of ["light", "dark"] as const) {
    test(`${width} px, ${scheme}: no violations of accessibility, nothing beyond the edge`, async () => {
      const page = await open({ width, scheme });
      await done(page);
      await page.evaluate(() => document.querySelectorAll("details").forEach((one) => (one.open = true)));
      await page.getByRole("button", { name: "Keep this run to compare" }).click();
      // As a bookmarklet would, past the policy that keeps scripts out.
      const found = (await page.evaluate(
        `(() => { const module = undefined, exports = undefined; ${axe}; return axe.run({ resultTypes: ["violations"] }); })()`,
      )) as Found;
      const told = found.violations.map((one) => `${one.id}: ${one.nodes.map((node) => `${node.html} ${node.failureSummary}`).join("; ")}`);
      assert.deepEqual(told, []);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${wide} px`);
      await page.close();
    });
  }
}

test("the page says of every preset what the engine accepts", () => {
  initSync({ module: readFileSync(join(LAB, "engine/engine_bg.wasm")) });
  const presets = [...Object.values(papers).flat(), ...paths] as { name: string; cases: object; files?: object }[];
  assert.ok(presets.length > 60);
  for (const preset of presets) {
    for (const [label, scenario] of Object.entries(preset.cases)) {
      assert.doesNotThrow(
        () => Scenario.read(JSON.stringify(scenario), true, JSON.stringify(preset.files ?? {})).free(),
        `${preset.name}, ${label}`,
      );
    }
  }
});
