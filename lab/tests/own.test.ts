// Controls in JavaScript on the page's base class equal the built-in ones packet by packet, in hard cases.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Run, Scenario, initSync, register } from "../engine/engine.js";
import type { JsonObject, Summary } from "../src/messages.ts";
import { BASE } from "../src/own.ts";
import { LAB } from "./native.ts";

/** Calls from the engine into JavaScript. */
let crossings = 0;

/** An instance of the engine whose calls into JavaScript are counted. */
function countedInstance(module: WebAssembly.Module, imports: WebAssembly.Imports): WebAssembly.Instance {
  const counted = Object.entries(imports).map(([name, functions]) => {
    const wrapped = Object.entries(functions).map(([key, value]) => {
      if (typeof value !== "function") return [key, value];
      return [key, (...given: unknown[]) => { crossings += 1; return value(...given); }];
    });
    return [name, Object.fromEntries(wrapped)];
  });
  return new Instance(module, Object.fromEntries(counted));
}

const { Instance } = WebAssembly;
WebAssembly.Instance = countedInstance as never;
initSync({ module: readFileSync(join(LAB, "engine/engine_bg.wasm")) });
WebAssembly.Instance = Instance;

const make = (text: string): object => new Function(`"use strict"; ${BASE} ${text}; return Control;`)() as object;

function digest(scenario: JsonObject): string {
  const read = Scenario.read(JSON.stringify(scenario), true, "{}");
  const run = new Run(read, 0, false);
  while (!run.advance(1_000_000));
  const summary: Summary = JSON.parse(run.finish());
  read.free();
  run.free();
  return summary.digest;
}

function path(control: string): JsonObject {
  return {
    run: { duration: "20 s", seed: 7 },
    dumbbell: { rate: "10 Mbit/s", delay: "20 ms", queue: { kind: "droptail", limit: "50 packets" } },
    flow: [
      { name: "one", controller: control, rtt: "50 ms" },
      { name: "two", controller: "cubic", rtt: "60 ms" },
    ],
  };
}

/** A scenario per criterion of RFC 9743, with Reno in the judged place (tests/satellites/test_twin_scenarios.py). */
const CRITERIA: Record<string, { flow: JsonObject[] } & JsonObject> = JSON.parse(
  readFileSync(join(LAB, "../tests/data/criteria.json"), "utf8"),
);

function judged(scenario: { flow: JsonObject[] } & JsonObject, controller: string): JsonObject {
  return { ...scenario, flow: scenario.flow.map((flow) => (flow["controller"] === "reno" ? { ...flow, controller } : flow)) };
}

const TWINS: Record<string, string> = {
  reno: `class Control extends Base {
    constructor(start) { super(start); this.wholePackets = start.rules === "linux"; }
    onAck(ack) { const growth = this.grow(ack); this.window += this.packetsFor(growth, this.window); }
    onLoss(loss) { this.cutTo(this.window / 2); }
  }`,
  aimd: `class Control extends Base {
    onAck(ack) { const growth = this.grow(ack); this.window += growth * 32 / this.window; }
    onLoss(loss) { this.cutTo(this.window * (1 - 0.125)); }
  }`,
  cubic: `class Control extends Base {
    static internals = ["w_max"];
    constructor(start) {
      super(start);
      this.w_max = this.windowBeforeCut = 0;
      this.rtt_s = null;
      this.epoch = null;
    }
    static alpha = (3 * (1 - 0.7)) / (1 + 0.7);
    // The nearest double: the function's result or the neighbour whose cube is nearest.
    static cubeRoot(number) {
      const whole = (value) => { let shift = 0; while (!Number.isInteger(value)) { value *= 2; shift += 1; } return [BigInt(value), shift]; };
      const [cube, cubeShift] = whole(number);
      const distance = (root) => {
        const [digits, shift] = whole(root);
        const most = BigInt(Math.max(3 * shift, cubeShift));
        const away = (digits ** 3n << (most - BigInt(3 * shift))) - (cube << (most - BigInt(cubeShift)));
        return [away < 0n ? -away : away, most];
      };
      const isNearer = ([a, scaleA], [b, scaleB]) => a << (scaleB > scaleA ? scaleB - scaleA : 0n) < b << (scaleA > scaleB ? scaleA - scaleB : 0n);
      let root = Math.cbrt(number);
      const step = root * 2 ** -52;
      for (const other of [root - step, root - step / 2, root + step / 2, root + step]) {
        if (isNearer(distance(other), distance(root))) root = other;
      }
      return root;
    }
    cubic(time, k, wMax) { return 0.4 * (time - k) * (time - k) * (time - k) + wMax; }
    onAck(ack) {
      if (ack.rtt_s !== null) {
        const old = this.rtt_s ?? ack.rtt_s;
        this.rtt_s = old + (ack.rtt_s - old) / 8;
      }
      const growth = this.grow(ack);
      if (growth <= 0) return;
      const now = Math.round(ack.now_s * 1e12);
      const window = this.window;
      this.epoch ??= this.w_max <= window
        ? { began: now, k: 0, origin: window, friendly: window }
        : { began: now, k: Control.cubeRoot((this.w_max - window) / 0.4), origin: this.w_max, friendly: window };
      const { began, k, origin } = this.epoch;
      const friendly = this.epoch.friendly
        + growth * (this.epoch.friendly >= this.windowBeforeCut ? 1 : Control.alpha) / window;
      this.epoch = { began, k, origin, friendly };
      const time = (now - began) / 1e12;
      if (this.cubic(time, k, origin) < friendly) {
        this.window = Math.max(window, friendly);
        return;
      }
      const target = Math.min(Math.max(this.cubic(time + (this.rtt_s ?? 0), k, origin), window), 1.5 * window);
      this.window += growth * (target - window) / window;
    }
    onLoss(loss) {
      const window = this.window;
      this.w_max = window < this.w_max ? window * (1 + 0.7) / 2 : window;
      this.windowBeforeCut = window;
      this.epoch = null;
      this.cutTo(window * 0.7);
    }
    onTimeout(timeout) {
      this.windowBeforeCut = this.window;
      if (timeout.first) this.ssthresh = Math.max(2, this.window * 0.7);
      this.window = 1;
      this.w_max = 0;
      this.epoch = null;
    }
  }`,
  // Marks, the codepoint and their consequences, in few lines (RFC 8257).
  dctcp: `class Control extends Base {
    static wants_marks = true;
    static ecn = "ect0";
    static internals = ["alpha", "marked_share"];
    constructor(start) {
      super(start);
      this.alpha = 1;
      this.marked_share = this.round = this.inRound = this.marked = this.delivered = this.inFlight = this.from = 0;
      this.until = null;
    }
    beginCut() { this.from = this.window; this.until = this.delivered + Math.max(this.inFlight, 1); }
    onAck(ack) {
      this.delivered += ack.delivered;
      this.inFlight = ack.in_flight;
      this.inRound += ack.delivered;
      this.marked += ack.marked;
      if (ack.round !== this.round) {
        this.round = ack.round;
        if (this.inRound > 0) {
          this.marked_share = Math.min(this.marked / this.inRound, 1);
          this.alpha += 0.0625 * (this.marked_share - this.alpha);
        }
        this.inRound = this.marked = 0;
      }
      if (this.until !== null && this.delivered > this.until) this.until = null;
      const growth = this.grow(ack);
      this.window += growth / this.window;
      if (ack.marked > 0 && this.until === null && !ack.recovering) {
        const before = this.window;
        this.beginCut();
        this.cutTo(before * (1 - this.alpha / 2));
        this.window = Math.min(this.window, before);
      }
    }
    onLoss(loss) {
      const window = this.window;
      const from = this.until === null ? window : this.from;
      this.beginCut();
      this.cutTo(Math.min(from / 2, window));
    }
    onTimeout(timeout) { this.until = null; super.onTimeout(timeout); }
  }`,
};

// Those of the criteria are by the rules of Linux; pauses by those of RFC 5681.
const { "app-limited": pauses } = CRITERIA;
assert.ok(pauses);
const SCENARIOS = { ...CRITERIA, standard: { ...pauses, tcp: { ...(pauses["tcp"] as JsonObject), recovery: "sack" } } };

for (const [name, text] of Object.entries(TWINS)) {
  for (const [criterion, scenario] of Object.entries(SCENARIOS)) {
    test(`${name} in JavaScript, ${criterion}`, () => {
      register(make(text) as never);
      // The digest holds every packet, loss and window of all flows, to the last bit.
      assert.equal(digest(judged(scenario, "own")), digest(judged(scenario, name)));
    });
  }
}

test("losses are reported one by one, with delivery rates and restarts", () => {
  register(make(`class Control extends Base {
    static wants_rate = true;
    static wants_losses = true;
    constructor(start) {
      super(start);
      this.lost = this.counted = this.sampled = this.restarts = 0;
      this.quantum = 2;
      globalThis.ackclockTold = this;
    }
    onLost(lost) {
      if (lost.tx_in_flight < 1 || lost.lost_since_sent < 1) throw new Error("a lost packet was in flight");
      this.lost += 1;
    }
    onRestart() { this.restarts += 1; }
    onAck(ack) {
      this.counted += ack.lost;
      this.sampled += ack.rate !== null && ack.rate.interval_s > 0 && ack.rate.tx_in_flight > 0;
      const growth = this.grow(ack);
      this.window += growth / this.window;
    }
    onLoss(loss) { this.cutTo(this.window / 2); }
  }`) as never);
  const scenario = path("own");
  const flows = scenario["flow"] as JsonObject[];
  flows[0] = { ...flows[0], source: "requests", size: "250 kB", every: "1 s" };
  digest(scenario);
  const told = (globalThis as unknown as { ackclockTold: Record<string, number> }).ackclockTold;
  assert.ok(told["lost"]! > 0 && told["sampled"]! > 0 && told["restarts"]! > 0);
  // Every loss is counted by the acknowledgement after it, except for those after the last.
  assert.ok(told["counted"]! <= told["lost"]! && told["lost"]! - told["counted"]! < 50);
});

test("an acknowledgement is one call into JavaScript", () => {
  register(make(`class Control extends Base {
    constructor(start) { super(start); globalThis.ackclockAcks = 0; }
    onAck(ack) { globalThis.ackclockAcks += 1; const growth = this.grow(ack); this.window += growth / this.window; }
    onLoss(loss) { this.cutTo(this.window / 2); }
  }`) as never);
  const scenario = { ...path("own"), flow: [{ controller: "own", rtt: "50 ms" }] };
  const read = Scenario.read(JSON.stringify(scenario), true, "{}");
  const run = new Run(read, 0, false);
  const before = crossings;
  while (!run.advance(1_000_000));
  const during = crossings - before;
  const { flows } = JSON.parse(run.finish()) as Summary;
  const { ackclockAcks: acks } = globalThis as unknown as { ackclockAcks: number };
  // 10 Mbit/s are 25 000 packets in 20 s, each acknowledged. Further calls: at losses, their ends, timeouts.
  const rare = 3 * (Number(flows[0]!["loss_events"]) + Number(flows[0]!["timeouts"]));
  assert.ok(acks > 20_000);
  assert.ok(during >= acks && during <= acks + rare, `${during} calls for ${acks} acknowledgements`);
});

test("a control whose window is a word, or that has no method, ends the run with a sentence", () => {
  const sentences: Record<string, RegExp> = {
    'constructor(start) { super(start); } onAck(ack) { this.window = "12"; } onLoss(loss) {}': /window is string, not a number/,
    "onAck(ack) { this.window = 0.5; } onLoss(loss) {}": /window is 0.5; a window is a finite number/,
    "onAck(ack) { this.window = Infinity; } onLoss(loss) {}": /window is Infinity; a window is a finite number/,
    "onAck(ack) { this.ssthresh = NaN; } onLoss(loss) {}": /ssthresh is NaN/,
    "onAck(ack) { this.pacing_rate = 0; } onLoss(loss) {}": /pacing_rate: give packets per second above 0/,
    "onAck(ack) {} onLoss = 5;": /the control has no method onLoss/,
    "onAck(ack) { throw new Error('mine'); } onLoss(loss) {}": /mine/,
  };
  for (const [text, sentence] of Object.entries(sentences)) {
    // A loss must come: the window grows beyond any queue.
    const grows = text.includes("onLoss = 5") ? text.replace("onAck(ack) {}", "onAck(ack) { this.window += 1; }") : text;
    register(make(`class Control extends Base { ${grows} }`) as never);
    assert.throws(() => digest(path("own")), sentence);
  }
  // The next run is not held responsible, and one without an ssthresh keeps that of its start.
  register(make("class Control { constructor(start) { this.window = 5; } onAck(ack) {} onLoss(loss) {} onTimeout(timeout) {} }") as never);
  assert.equal(digest(path("own")).length, 16);
});

test("a quantum that is not a whole number of packets is refused", () => {
  register(make("class Control extends Base { constructor(start) { super(start); this.quantum = 0.5; } onAck(ack) {} onLoss(loss) {} }") as never);
  assert.throws(() => digest(path("own")), /quantum: give a whole number of packets, at least 1, or null/);
});

test("a pacing rate that is set after the start is obeyed", () => {
  register(make(`class Control extends Base {
    constructor(start) { super(start); this.window = 60; }
    onAck(ack) { this.pacing_rate = 50; }
    onLoss(loss) {}
  }`) as never);
  const paced = digest(path("own"));
  register(make("class Control extends Base { constructor(start) { super(start); this.window = 60; } onAck(ack) {} onLoss(loss) {} }") as never);
  assert.notEqual(paced, digest(path("own")));
});
