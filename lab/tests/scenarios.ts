// Random scenarios within the form and the schema, from a seed.

import type { Control, JsonObject } from "../src/messages.ts";

/** Numbers from 0 to below 1 (mulberry32), the same for a seed everywhere. */
function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A scenario: controls with parameters of their domains, queues, losses, noise, steps, traffic without a control. */
export function random(seed: number, controls: readonly Control[]): JsonObject {
  const next = chance(seed);
  const one = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T;
  const among = (low: number, high: number): number => low * (high / low) ** next();
  const rounded = (low: number, high: number): number => Number(among(low, high).toPrecision(3));
  const sometimes = (share: number, make: () => JsonObject): JsonObject => (next() < share ? make() : {});
  const queue = (): JsonObject => {
    const kind = one(["droptail", "red", "ared", "codel", "pie", "step", "fq_codel", "dualpi2"]);
    const marks = ["red", "ared", "codel", "pie", "fq_codel"].includes(kind);
    return {
      kind,
      limit: `${Math.round(among(5, 500))} packets`,
      ...(kind === "step" ? { threshold: Math.round(among(1, 50)) } : {}),
      ...(marks && next() < 0.5 ? { ecn: true } : {}),
    };
  };
  const loss = (): JsonObject =>
    one([
      { kind: "bernoulli", rate: `${rounded(0.001, 3)} %` },
      { kind: "periodic", every: Math.round(among(20, 5000)) },
      { kind: "gilbert_elliott", to_bad: `${rounded(0.01, 1)} %`, to_good: `${rounded(5, 50)} %` },
    ]);
  const noise = (): JsonObject =>
    one([
      { kind: "uniform", range: `${rounded(0.1, 10)} ms` },
      { kind: "gaussian", sigma: `${rounded(0.1, 5)} ms`, reorder: next() < 0.5 },
    ]);
  const params = (control: Control): JsonObject =>
    Object.fromEntries(
      control.parameters
        .filter(() => next() < 0.3)
        .map((parameter) => {
          const { name, default: usual, minimum, maximum, choices } = parameter;
          if (choices) return [name, one(choices)];
          const number = typeof usual === "number" && usual > 0 ? usual * among(0.7, 1.4) : Number(usual);
          return [name, Math.min(maximum ?? number, Math.max(minimum ?? number, Number(number.toPrecision(3))))];
        }),
    );
  const flow = (): JsonObject => {
    const timed = {
      rtt: `${rounded(20, 200)} ms`,
      ...sometimes(0.4, () => ({ start: `${rounded(0.1, 3)} s` })),
      ...sometimes(0.2, () => ({ stop: `${rounded(4, 7)} s` })),
    };
    if (next() < 0.1) return { source: one(["cbr", "poisson", "onoff"]), rate: `${rounded(100, 3000)} kbit/s`, ...timed };
    const control = one(controls);
    const isWindow = control.kind === "window";
    return {
      controller: control.name,
      params: params(control),
      ...timed,
      ...(isWindow ? sometimes(0.4, () => ({ recovery: one(["reno", "reno-ns2", "newreno", "sack", "rack", "linux-2.6"]) })) : {}),
      ...(isWindow ? sometimes(0.3, () => ({ delayed_ack: 2 })) : {}),
      ...(isWindow ? sometimes(0.2, () => ({ ecn: true })) : {}),
      ...sometimes(0.2, () => ({ count: 1 + Math.floor(next() * 4) })),
    };
  };
  const rate = rounded(1, 40);
  return {
    run: { duration: "6 s", seed: Math.floor(next() * 1e9) },
    tcp: { profile: one(["ns2", "linux"]), ...sometimes(0.6, () => ({ overhead: "100 us" })) },
    dumbbell: {
      rate: `${rate} Mbit/s`,
      delay: "5 ms",
      queue: queue(),
      ...sometimes(0.5, () => ({ loss: loss() })),
      ...sometimes(0.3, () => ({ delay_noise: noise() })),
    },
    flow: Array.from({ length: 1 + Math.floor(next() * 4) }, flow),
    ...(next() < 0.3 ? { event: [{ at: "3 s", set: "dumbbell.rate", to: `${rounded(1, 40)} Mbit/s` }] } : {}),
  };
}
