// The live view of a sweep in a browser: it follows the work from the disk, and reports its end or death.

import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Page } from "playwright-core";
import { LAB, PATIENCE_MS, browser, heard, open } from "./browser.ts";

browser();

const COMMAND = (process.env.ACKCLOCK ?? join(dirname(LAB), ".venv/bin/ackclock")).split(" ");
const AXE = readFileSync(join(LAB, "node_modules/axe-core/axe.min.js"), "utf8");
const folder = mkdtempSync(join(tmpdir(), "ackclock-live-"));
const file = join(folder, "results/experiment=endless.live.html");
const address = pathToFileURL(file).href;
const started: ChildProcess[] = [];
after(() => {
  for (const one of started) one.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

writeFileSync(
  join(folder, "path.toml"),
  `[run]
duration = "2 s"
[dumbbell]
rate = "10 Mbit/s"
delay = "10 ms"
queue = { kind = "droptail", limit = "50 packets" }
loss = { kind = "bernoulli", rate = 0 }
[[flow]]
controller = "reno"
rtt = "40 ms"
`,
);
writeFileSync(
  join(folder, "endless.toml"),
  `scenario = "path.toml"
[parameters]
p = { set = "dumbbell.loss.rate", to = [0.001, 0.01] }
control = { set = "flow.0.controller", to = ["reno", "fit"] }
[runs]
count = 250000
`,
);

async function until(what: () => boolean | Promise<boolean>): Promise<void> {
  const last = Date.now() + PATIENCE_MS;
  while (!(await what())) {
    assert.ok(Date.now() < last, String(what));
    await new Promise((wake) => setTimeout(wake, 100));
  }
}

const written = (): string => (existsSync(file) ? readFileSync(file, "utf8") : "");

async function sweep(): Promise<ChildProcess> {
  const [program, ...first] = COMMAND as [string, ...string[]];
  const words = ["sweep", "endless.toml", "--live", "--jobs", "1"];
  const begun = spawn(program, [...first, ...words], { cwd: folder, stdio: "ignore" });
  started.push(begun);
  await until(() => written().includes('data-state="running"') && written().includes("data-charts"));
  return begun;
}

async function ended(process: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const gone = new Promise((wake) => process.once("exit", wake));
  process.kill(signal);
  await gone;
}

const done = async (page: Page): Promise<number> => Number(await page.locator("[data-count=done]").textContent());

test("it follows a sweep, for everyone, at any width, without a network", async () => {
  const begun = await sweep();
  const page = await open({ width: 400, scheme: "dark", address });
  const first = await done(page);
  await until(async () => (await done(page)) > first);
  for (const [width, scheme] of [[1300, "light"], [400, "dark"]] as const) {
    heard.errors.length = heard.requests.length = 0;
    const looked = await open({ width, scheme, address });
    // A reload in the middle of a check would make it another page.
    await looked.getByRole("checkbox", { name: "follow" }).uncheck();
    await looked.locator(".chart canvas").first().waitFor();
    assert.equal(await looked.locator("#silent").isVisible(), false);
    assert.ok((await looked.evaluate(() => document.documentElement.scrollWidth)) <= width);
    await looked.evaluate(AXE);
    const found = await looked.evaluate("axe.run().then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`))");
    assert.deepEqual(found, []);
    assert.deepEqual(heard.errors, []);
    assert.deepEqual(heard.requests.filter((one) => !one.startsWith("file:") && !one.startsWith("data:")), []);
    // The paused state survives a reload by hand.
    await looked.reload();
    assert.equal(await looked.getByRole("checkbox", { name: "follow" }).isChecked(), false);
    await looked.close();
  }
  await page.close();
  await ended(begun, "SIGKILL");
});

test("it says when its process has died, and which command resumes the work", async () => {
  // As if it had been killed two minutes ago.
  writeFileSync(file, written().replace(/data-stamp="[^"]+"/, `data-stamp="${Date.now() / 1000 - 120}"`));
  const page = await open({ address });
  await page.locator("#silent").waitFor({ state: "visible" });
  assert.equal(await page.locator("#age").textContent(), "2 min ago");
  assert.equal(await page.locator("#silent code.command").textContent(), "ackclock sweep endless.toml --live");
  // It still follows: the same command resumes, and the page with it.
  const begun = await sweep();
  await page.locator("#silent").waitFor({ state: "hidden" });
  await ended(begun, "SIGINT");
  await page.getByText("Interrupted.").waitFor();
  assert.equal(await page.locator("main").getAttribute("data-state"), "interrupted");
  assert.equal(await page.getByRole("checkbox").count(), 0);
  assert.ok(!(await page.content()).includes("location.reload"));
  await page.close();
});
