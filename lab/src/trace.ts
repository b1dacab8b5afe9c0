// What a run has shown, thinned for drawing. Numbers come from the engine's summary, never from here.

import type { Column, Outline, Tables } from "./messages.ts";

/** More rows per curve than this are merged in pairs. */
const MOST_ROWS = 4096;
/** Flows that are drawn. */
export const MOST_DRAWN = 24;
const MOST_MARKS = 20000;
/** Parts of a run that goodputs are means over. */
const SMOOTHING = 120;

/** Columns over time, of one length; `time` in seconds. */
export interface Curve {
  time: number[];
  columns: Map<string, number[]>;
}

/** A loss event or timeout. */
export interface Mark {
  time: number;
  flow: number;
  kind: string;
}

const FIXED = new Set(["time_s", "flow", "link", "sent_bytes", "delivered_bytes"]);

function values(column: Column | undefined): ArrayLike<number> {
  return column === undefined || Array.isArray(column) ? [] : column;
}

/** A run as curves. */
export class Trace {
  readonly outline: Outline;
  readonly flows: Curve[];
  readonly links: Curve[];
  readonly marks: Mark[] = [];
  /** Goodputs are means over this time, seconds. */
  readonly smoothing_s: number;
  now_s = 0;

  constructor(outline: Outline) {
    this.outline = outline;
    this.smoothing_s = outline.duration_s / SMOOTHING;
    const empty = (): Curve => ({ time: [], columns: new Map() });
    this.flows = outline.flows.slice(0, MOST_DRAWN).map(empty);
    this.links = outline.links.map(empty);
  }

  /** Takes in new samples. */
  add(now_s: number, tables: Tables): void {
    this.now_s = now_s;
    if (tables.windows) this.#rows(tables.windows, "flow", this.flows);
    if (tables.queues) this.#rows(tables.queues, "link", this.links);
    const events = tables.events;
    if (!events) return;
    const [times, flows, kinds] = [values(events.time_s), values(events.flow), events.kind];
    for (let row = 0; row < times.length && this.marks.length < MOST_MARKS; row += 1) {
      const kind = String(kinds?.[row]);
      const flow = flows[row] as number;
      if ((kind === "loss" || kind === "timeout") && flow < this.flows.length) {
        this.marks.push({ time: times[row] as number, flow, kind });
      }
    }
  }

  /** Names of the internals of controls, in order. */
  internals(): string[] {
    const known = new Set(["window", "ssthresh", "rtt_ms", "in_flight_packets", "rate_mbps", "delivered_mbit"]);
    return [...new Set(this.flows.flatMap((flow) => [...flow.columns.keys()]))].filter((name) => !known.has(name));
  }

  /** Goodput over the last while: what recovery delivers at once has waited for a round trip or more. */
  #rate(curve: Curve, rows: number): number {
    const column = curve.columns.get("delivered_mbit") as number[];
    const [time, total] = [curve.time[rows - 1] as number, column[rows - 1] as number];
    const since = time - this.smoothing_s;
    let row = rows - 2;
    while (row >= 0 && (curve.time[row] as number) > since) row -= 1;
    return (total - (column[row] ?? 0)) / (time - (curve.time[row] ?? 0));
  }

  #rows(table: Record<string, Column>, key: "flow" | "link", curves: Curve[]): void {
    const times = values(table.time_s);
    const owners = values(table[key]);
    const delivered = values(table.delivered_bytes);
    const names = Object.keys(table).filter((name) => !FIXED.has(name));
    for (let row = 0; row < times.length; row += 1) {
      const curve = curves[owners[row] as number];
      if (curve === undefined) continue;
      const time = times[row] as number;
      const rows = curve.time.push(time);
      for (const name of names) put(curve, name, rows, values(table[name])[row] as number);
      if (key === "flow") {
        put(curve, "delivered_mbit", rows, (curve.columns.get("delivered_mbit")?.at(-1) ?? 0) + (delivered[row] as number) * 8e-6);
        put(curve, "rate_mbps", rows, this.#rate(curve, rows));
      }
      if (rows >= MOST_ROWS) thin(curve);
    }
  }
}

function put(curve: Curve, name: string, rows: number, value: number): void {
  let column = curve.columns.get(name);
  if (column === undefined) {
    column = [];
    curve.columns.set(name, column);
  }
  while (column.length < rows - 1) column.push(Number.NaN);
  column.push(value);
}

/** Merges pairs of rows: of queues the longest stays, of everything else what came last. */
function thin(curve: Curve): void {
  const half = (column: number[], merge: (a: number, b: number) => number): number[] =>
    Array.from({ length: column.length >> 1 }, (_, i) => merge(column[2 * i] as number, column[2 * i + 1] as number));
  curve.time = half(curve.time, (_, later) => later);
  for (const [name, column] of curve.columns) {
    while (column.length < curve.time.length * 2) column.push(Number.NaN);
    curve.columns.set(name, half(column, name === "max_packets" ? Math.max : (_, later) => later));
  }
}

/**
 * Finds a curve's value at a time.
 *
 * @returns The last value at or before it; undefined when there is none.
 */
export function at(curve: Curve, name: string, time: number): number | undefined {
  let [low, high] = [0, curve.time.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((curve.time[middle] as number) <= time) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? undefined : curve.columns.get(name)?.[low - 1];
}
