// A control in JavaScript on the base that the page offers is the built-in control, packet by packet, where it is hard.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Run, Scenario, initSync, register } from "../engine/engine.js";
import type { JsonObject, Summary } from "../src/messages.ts";
import { BASE } from "../src/own.ts";
import { LAB } from "./native.ts";

initSync({ module: readFileSync(join(LAB, "engine/engine_bg.wasm")) });

const make = (text: string): object => new Function(`"use strict"; ${BASE} ${text}; return Control;`)() as object;

function digest(control: string, more: JsonObject, tcp: JsonObject): string {
  const scenario = {
    run: { duration: "20 s", seed: 7 },
    tcp,
    dumbbell: { rate: "10 Mbit/s", delay: "20 ms", queue: { kind: "droptail", limit: "50 packets" }, ...more },
    flow: [
      { name: "one", controller: control, rtt: "50 ms" },
      { name: "two", controller: "cubic", rtt: "60 ms" },
    ],
  };
  const read = Scenario.read(JSON.stringify(scenario), true, "{}");
  const run = new Run(read, 0, false);
  while (!run.advance(1_000_000));
  const summary: Summary = JSON.parse(run.finish());
  read.free();
  run.free();
  return summary.digest;
}

const HARD: Record<string, JsonObject> = {
  reordering: { delay_noise: { kind: "uniform", range: "20 ms", reorder: true } },
  timeouts: { queue: { kind: "droptail", limit: "3 packets" } },
  losses: { loss: { kind: "bernoulli", rate: "5 %" } },
};

const TWINS: Record<string, string> = {
  reno: `class Control extends Base {
    onAck(ack) { const growth = this.grow(ack); this.window += growth / this.window; }
    onLoss(loss) { this.window = this.ssthresh = Math.max(2, this.window / 2); }
  }`,
};

for (const [name, text] of Object.entries(TWINS)) {
  for (const [what, more] of Object.entries(HARD)) {
    for (const recovery of ["sack", "rack"]) {
      test(`${name} in JavaScript, ${what}, ${recovery}`, () => {
        register(make(text) as never);
        assert.equal(digest("own", more, { recovery }), digest(name, more, { recovery }));
      });
    }
  }
}

test("a pacing rate that is set after the start is obeyed", () => {
  register(make(`class Control extends Base {
    constructor(start) { super(start); this.window = 60; }
    onAck(ack) { this.pacing_rate = 50; }
    onLoss(loss) {}
  }`) as never);
  const paced = digest("own", {}, {});
  register(make("class Control extends Base { constructor(start) { super(start); this.window = 60; } onAck(ack) {} onLoss(loss) {} }") as never);
  assert.notEqual(paced, digest("own", {}, {}));
});
