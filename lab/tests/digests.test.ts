// The engine of the page gives the same digests as the native engine.

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Run, Scenario, controllers, initSync } from "../engine/engine.js";
import type { Control, Summary } from "../src/messages.ts";
import { LAB, ROOT, native, type Request } from "./native.ts";
import { random } from "./scenarios.ts";

const RANDOM = 200;

initSync({ module: readFileSync(join(LAB, "engine/engine_bg.wasm")) });

function inThePage({ text, isJson, files }: Request, slice = 1_000_000, record = false): string {
  let scenario: Scenario;
  try {
    scenario = Scenario.read(text, isJson, JSON.stringify(files));
  } catch (refusal) {
    return String(refusal);
  }
  const run = new Run(scenario, 0, record);
  while (!run.advance(slice)) if (record) run.take();
  const summary: Summary = JSON.parse(run.finish());
  run.free();
  scenario.free();
  return summary.digest;
}

function scenarioFile(name: string): Request {
  const folder = join(ROOT, "scenarios");
  const traces = readdirSync(folder).filter((file) => file.endsWith(".trace"));
  const files = Object.fromEntries(traces.map((file) => [file, readFileSync(join(folder, file), "utf8")]));
  return { text: readFileSync(join(folder, `${name}.toml`), "utf8"), isJson: false, files };
}

test("the digests on file", () => {
  const lines = readFileSync(join(ROOT, "tests/digests.txt"), "utf8").trimEnd().split("\n");
  let compared = 0;
  for (const line of lines) {
    const [digest, name] = line.split(/\s+/) as [string, string];
    if (!existsSync(join(ROOT, "scenarios", `${name}.toml`))) continue;
    const request = scenarioFile(name);
    // Scenarios that need more than the engine itself are refused; their digests come from elsewhere.
    if (/transport\s*=\s*"quic"|@kernel/.test(request.text)) continue;
    assert.equal(inThePage(request), digest, name);
    compared += 1;
  }
  assert.ok(compared >= 5);
});

test("every scenario of the repository", () => {
  const names = readdirSync(join(ROOT, "scenarios")).filter((file) => file.endsWith(".toml"));
  const requests = names.map((file) => scenarioFile(file.replace(".toml", "")));
  assert.deepEqual(requests.map((one) => inThePage(one)), native("digests", requests));
});

test(`${RANDOM} scenarios by chance`, () => {
  const list: Control[] = JSON.parse(controllers());
  const requests = Array.from({ length: RANDOM }, (_, seed) => ({
    text: JSON.stringify(random(seed, list)),
    isJson: true,
    files: {},
  }));
  const found = requests.map((one) => inThePage(one));
  assert.deepEqual(found, native("digests", requests));
  // Some domains exclude each other, which the two engines refuse with the same message.
  const run = found.filter((one) => /^[0-9a-f]{16}$/.test(one));
  assert.ok(run.length > 0.8 * RANDOM, `${run.length} were run; refused: ${found.filter((one) => !run.includes(one)).join("\n")}`);
  assert.ok(new Set(run).size > 0.95 * run.length);
});

test("how a run is cut, and who looks on, changes nothing", () => {
  const request = scenarioFile("lossy-path");
  assert.equal(inThePage(request, 777, true), inThePage(request));
});
