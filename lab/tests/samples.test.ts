// The drawing of a run: the extremes of every stretch, the rates of arrivals, and the flows that share a link.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Run, Scenario, controllers, initSync } from "../engine/engine.js";
import type { Control, Outline, Tables } from "../src/messages.ts";
import { panels } from "../src/panels.ts";
import { FAN, LEVELS, Numbers, Samples, pointsOf, type Level } from "../src/samples.ts";
import { csv } from "../src/take.ts";
import { MOST_DRAWN, Trace } from "../src/trace.ts";
import { LAB, native, type Request } from "./native.ts";
import { random } from "./scenarios.ts";

initSync({ module: readFileSync(join(LAB, "engine/engine_bg.wasm")) });

/** A run as the page keeps it, taken in slices; null if the scenario is refused. */
function traced({ text, isJson, files }: Request): Trace | null {
  let scenario: Scenario;
  try {
    scenario = Scenario.read(text, isJson, JSON.stringify(files));
  } catch {
    return null;
  }
  const trace = new Trace(JSON.parse(scenario.outline()) as Outline);
  const run = new Run(scenario, 0, true);
  for (let ended = false; !ended; ) {
    ended = run.advance(5000);
    trace.add(run.now_s(), run.take() as Tables);
  }
  run.free();
  scenario.free();
  return trace;
}

type Bucket = [number | null, number | null, number | null];
/** JSON has neither NaN nor infinity. */
const known = (value: number): number | null => (Number.isFinite(value) ? value : null);
const buckets = ({ least, most, last }: Level): Bucket[] =>
  Array.from({ length: last.length }, (_, index) => [known(least.at(index)), known(most.at(index)), known(last.at(index))]);

test("the extremes of every bucket are those of the native tables, in 200 runs", () => {
  const list: Control[] = JSON.parse(controllers());
  const requests = Array.from({ length: 200 }, (_, seed): Request => {
    const scenario = random(seed, list);
    // 6 s: 600 samples, and in every tenth run 6000, so that buckets of 8, 64, 512 and 4096 rows are full.
    Object.assign(scenario.run as object, { sample: seed % 10 === 0 ? "1 ms" : seed % 10 === 1 ? "rtt" : "10 ms" });
    return { text: JSON.stringify(scenario), isJson: true, files: {} };
  });
  const tables = native("buckets", requests);
  let [compared, runs] = [0, 0];
  for (const [index, request] of requests.entries()) {
    const trace = traced(request);
    if (trace === null) continue;
    runs += 1;
    const expected = JSON.parse(tables[index] as string) as Record<string, Bucket[][]>;
    for (const [key, levels] of Object.entries(expected)) {
      const [table, owner, column] = key.split(" ") as [string, string, string];
      const curve = (table === "windows" ? trace.flows : trace.links)[Number(owner)];
      const samples = curve?.columns.get(column);
      if (samples === undefined) continue;
      for (const [level, wanted] of levels.entries()) {
        const found = buckets(samples.levels[level] as Level);
        // A column that only a later flow has begins with that flow; there is nothing before it.
        while (wanted.length > found.length) assert.deepEqual(wanted.pop()?.slice(0, 2), [null, null], `run ${index}, ${key}, level ${level}: ${found.length} of ${wanted.length + 1} buckets`);
        assert.deepEqual(found, wanted, `run ${index}, ${key}, level ${level}`);
        compared += found.length;
      }
    }
  }
  assert.ok(runs > 160 && compared > 1e5, `${runs} runs, ${compared} buckets`);
});

test("a long run is drawn with every peak, equally well at both ends", () => {
  // A sawtooth of period 7 with one peak and one trough, 100 000 samples long; and the same, zoomed.
  const [time, column] = [new Numbers(), new Samples()];
  for (let row = 0; row < 100_000; row += 1) {
    time.push(row / 100);
    column.push(row === 12_345 ? 1000 : row === 98_765 ? -1000 : row % 7);
  }
  for (const [from, to] of [[0, 1000], [100, 500], [900, 1000], [123, 124]] as const) {
    const { x, y } = pointsOf(time, column, from, to, 1500);
    assert.ok(x.length <= 1600, String(x.length));
    assert.ok(x.every((value, row) => row === 0 || value >= (x[row - 1] as number)));
    if (from <= 123.45 && to >= 123.45) assert.equal(Math.max(...y), 1000);
    if (from <= 987.65 && to >= 987.65) assert.equal(Math.min(...y), -1000);
    const [first, last] = [0.1, 0.9].map((end) => from + end * (to - from)) as [number, number];
    const [early, late] = [x.filter((value) => value < first).length, x.filter((value) => value > last).length];
    assert.ok(Math.abs(early / late - 1) < 0.2, `${early} points in the first tenth, ${late} in the last`);
    // The curve reaches both ends.
    assert.ok((x[0] as number) <= from && (x.at(-1) as number) >= to - 0.01);
  }
  assert.equal(FAN ** LEVELS > 1e6, true);
});

const outline = (flows: Outline["flows"], links: string[], duration_s = 12): Outline => ({
  duration_s,
  warmup_s: 0,
  sample_s: 0.1,
  flows,
  links,
});
const flow = (name: string, ...path: number[]): Outline["flows"][number] => ({ name, control: "reno", packet_bytes: 1000, path });

/** Tables in which flow number f has 1000 (f + 1) bytes arrive in each tenth of a second, and nothing in order. */
function steady(trace: Trace, end_s: number): void {
  const rows = Array.from({ length: Math.round(end_s * 10) }, (_, sample) => (sample + 1) / 10).flatMap((time) =>
    trace.outline.flows.map((_, flow) => ({ time, flow })),
  );
  const windows = {
    time_s: Float64Array.from(rows, (row) => row.time),
    flow: Uint32Array.from(rows, (row) => row.flow),
    arrived_bytes: Float64Array.from(rows, (row) => 1000 * (row.flow + 1)),
    delivered_bytes: Float64Array.from(rows, () => 0),
  };
  trace.add(end_s, { windows });
}

test("goodput is what arrives, and what is delivered in order has its own name", () => {
  const trace = new Trace(outline([flow("one", 0)], ["bottleneck"]));
  steady(trace, 12);
  // 1000 bytes per 0.1 s are 0.08 Mbit/s.
  const last = (column: string): number => trace.flows[0]?.columns.get(column)?.at(119) as number;
  assert.ok(Math.abs(last("rate_mbps") - 0.08) < 1e-12, String(last("rate_mbps")));
  assert.equal(last("in_order_mbps"), 0);
  assert.ok(trace.internals().includes("in_order_mbps"));
});

test("shares count every flow of a link and direction, hidden, not drawn or going the other way", () => {
  // 26 flows forward, of which flow f has f + 1 parts of 1 + ... + 26 = 351; one flow back. Two of them are not drawn.
  const flows = Array.from({ length: 26 }, (_, index) => flow(`flow ${index}`, 0));
  const trace = new Trace(outline([...flows, flow("back", 1)], ["bottleneck", "bottleneck reverse"]));
  steady(trace, 12);
  assert.deepEqual(trace.sharings.map((one) => one.flows.length), [26, 1]);
  const share = panels(trace, null, new Set(["flow 0"]), "", 0).find((panel) => panel.key === "share");
  const tops = share?.lines.map((line) => line.points(0, 12, 100).y.at(-1) as number) ?? [];
  assert.equal(tops.length, MOST_DRAWN + 1);
  assert.ok(Math.abs((tops[0] as number) - 1 / 351) < 1e-12, "what is hidden has its share");
  assert.deepEqual(share?.lines.map((line) => line.isBlank ?? false).indexOf(true), 0);
  assert.ok(Math.abs((tops[23] as number) - (24 * 25) / 2 / 351) < 1e-12);
  assert.equal(share?.lines.at(-1)?.name, "2 more");
  assert.ok(Math.abs((tops[24] as number) - 1) < 1e-12);
  const back = panels(trace, null, new Set(), "", 1).find((panel) => panel.key === "share");
  assert.deepEqual(back?.lines.map((line) => line.name), ["back"]);
});

test("CSV has every sample of a run of 1200 s", () => {
  const trace = new Trace(outline([flow("one", 0), flow("two", 0)], ["bottleneck"], 1200));
  steady(trace, 1200);
  const rows = csv(trace, new Set(), 0, 1200).trimEnd().split("\n").slice(1);
  assert.equal(rows.length, 2 * 12_000);
  const perHundred = (from: number): number => rows.filter((row) => row.includes(",one,") && Number(row.split(",")[0]) > from && Number(row.split(",")[0]) <= from + 100).length;
  assert.deepEqual([0, 600, 1100].map(perHundred), [1000, 1000, 1000]);
});
