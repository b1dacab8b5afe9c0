// A scenario as data: the places of its values, and how to change them. Only the engine knows their meaning.

import type { Json, JsonObject } from "./messages.ts";

/** The scenario that the page begins with. */
export const FIRST: JsonObject = {
  run: { duration: "60 s", warmup: "10 s", sample: "50 ms" },
  tcp: { profile: "linux", overhead: "100 us" },
  dumbbell: { rate: "20 Mbit/s", delay: "20 ms", queue: { kind: "droptail", limit: "100 packets" } },
  flow: [
    { controller: "reno", rtt: "50 ms" },
    { controller: "cubic", rtt: "50 ms", start: "10 s" },
  ],
};

/** Keys and indices from the root. */
export type Path = readonly (string | number)[];

/** Whether a value is a table. */
export function isTable(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value at a path; undefined when there is none. */
export function get(value: Json | undefined, path: Path): Json | undefined {
  let found: Json | undefined = value;
  for (const key of path) {
    if (Array.isArray(found)) found = found[Number(key)];
    else if (isTable(found)) found = found[key];
    else return undefined;
  }
  return found;
}

/** The text at a path; empty when there is none. */
export function text(value: Json | undefined, path: Path): string {
  const found = get(value, path);
  return found === undefined || typeof found === "object" ? "" : String(found);
}

/** The same with another value at a path; undefined removes it. */
export function set(value: JsonObject, path: Path, to: Json | undefined): JsonObject {
  return put(value, path, to) as JsonObject;
}

function put(value: Json | undefined, path: Path, to: Json | undefined): Json | undefined {
  const [key, ...rest] = path;
  if (key === undefined) return to;
  if (typeof key === "number") {
    const list = Array.isArray(value) ? [...value] : [];
    const changed = put(list[key], rest, to);
    if (changed === undefined) list.splice(key, 1);
    else list[key] = changed;
    return list;
  }
  const { [key]: old, ...others } = isTable(value) ? value : {};
  const changed = put(old, rest, to);
  if (changed === undefined) return others;
  // A changed key keeps its place.
  if (isTable(value) && key in value) {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, name === key ? changed : one]));
  }
  return { ...others, [key]: changed };
}

/** The tables of flows. */
export function flows(scenario: JsonObject): JsonObject[] {
  return Array.isArray(scenario.flow) ? scenario.flow.filter(isTable) : [];
}

/** The table that has rate, delay and queue, when there is one for all bottlenecks. */
export function bottleneck(scenario: JsonObject): "dumbbell" | "parking_lot" | undefined {
  if (isTable(scenario.dumbbell)) return "dumbbell";
  return isTable(scenario.parking_lot) ? "parking_lot" : undefined;
}
