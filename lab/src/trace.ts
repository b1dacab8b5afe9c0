// Every sample of a run, for drawing. Numbers come from the engine's summary, never from here.

import type { Column, Outline, Tables } from "./messages.ts";
import { Numbers, Samples } from "./samples.ts";

/** Flows that are drawn. */
export const MOST_DRAWN = 24;
const MOST_MARKS = 20000;
/** Values of all curves together, 8 bytes each; a page that kept more would be ended by its browser. */
const MOST_VALUES = 16e6;
/** Parts of a run that goodputs are means over. */
const SMOOTHING = 120;

/** Columns over time, of one length; `time` in seconds. */
export interface Curve {
  time: Numbers;
  columns: Map<string, Samples>;
}

/** A loss event or timeout. */
export interface Mark {
  time: number;
  flow: number;
  kind: string;
}

/** Flows whose data share a link. */
export interface Sharing {
  link: string;
  flows: number[];
}

const FIXED = new Set(["time_s", "flow", "link", "sent_bytes", "arrived_bytes", "delivered_bytes"]);
/** Columns computed from arrivals: amounts by name, and their rates. */
const RATES = [
  ["arrived_bytes", "arrived_mbit", "rate_mbps"],
  ["delivered_bytes", "in_order_mbit", "in_order_mbps"],
] as const;
/** Columns that have plots of their own, or none. */
const NO_INTERNALS = new Set(["window", "ssthresh", "rtt_ms", "in_flight_packets", "one_way_delay_ms", ...RATES.flat()]);

function values(column: Column | undefined): ArrayLike<number> {
  return column === undefined || Array.isArray(column) ? [] : column;
}

/** The link that each flow shares with the most others, the first of several; flows without a link share none. */
export function sharings(outline: Outline): Sharing[] {
  const users = outline.links.map((_, link) => outline.flows.flatMap(({ path }, flow) => (path.includes(link) ? [flow] : [])));
  const meets = outline.flows.map(({ path }) =>
    path.reduce((best, link) => ((users[link]?.length ?? 0) > (users[best]?.length ?? 0) ? link : best), path[0] ?? -1),
  );
  return outline.links.flatMap((link, index) => {
    const flows = meets.flatMap((of, flow) => (of === index ? [flow] : []));
    return flows.length > 0 ? [{ link, flows }] : [];
  });
}

/** A run as curves. */
export class Trace {
  readonly outline: Outline;
  readonly flows: Curve[];
  readonly links: Curve[];
  readonly marks: Mark[] = [];
  readonly sharings: Sharing[];
  /** Goodputs and shares are means over this time, seconds. */
  readonly smoothing_s: number;
  /** Data that arrived for each flow, drawn or not, in each part of the run of the length `smoothing_s`, Mbit. */
  readonly arrived: Float64Array[];
  now_s = 0;
  /** When there was no room for more samples, seconds. */
  full_at_s: number | null = null;
  #values = 0;

  constructor(outline: Outline) {
    this.outline = outline;
    this.smoothing_s = Math.max(outline.duration_s / SMOOTHING, outline.sample_s ?? 0);
    const empty = (): Curve => ({ time: new Numbers(), columns: new Map() });
    this.flows = outline.flows.slice(0, MOST_DRAWN).map(empty);
    this.links = outline.links.map(empty);
    this.sharings = sharings(outline);
    const parts = Math.max(1, Math.ceil(outline.duration_s / this.smoothing_s - 1e-9));
    this.arrived = outline.flows.map(() => new Float64Array(parts));
  }

  /** Takes in new samples. */
  add(now_s: number, tables: Tables): void {
    this.now_s = now_s;
    if (tables.windows) this.#arrivals(tables.windows);
    if (this.full_at_s === null) {
      if (tables.windows) this.#rows(tables.windows, "flow", this.flows);
      if (tables.queues) this.#rows(tables.queues, "link", this.links);
      if (this.#values > MOST_VALUES) this.full_at_s = now_s;
    }
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

  /** Names of the internals of controls, in order, followed by the rate of delivery in order. */
  internals(): string[] {
    const names = new Set(this.flows.flatMap((flow) => [...flow.columns.keys()]));
    return [...[...names].filter((name) => !NO_INTERNALS.has(name)), ...(names.has("in_order_mbps") ? ["in_order_mbps"] : [])];
  }

  /** Whether any flow has one-way delays. */
  hasDelays(): boolean {
    return this.flows.some((flow) => !Number.isNaN(flow.columns.get("one_way_delay_ms")?.levels.at(-1)?.most.at(0) ?? Number.NaN));
  }

  /** A sample at time t covers the time since the sample before: at the end of a part it belongs to that part. */
  #arrivals(table: Record<string, Column>): void {
    const [times, flows, bytes] = [values(table.time_s), values(table.flow), values(table.arrived_bytes)];
    for (let row = 0; row < times.length; row += 1) {
      const parts = this.arrived[flows[row] as number];
      if (parts === undefined) continue;
      const part = Math.ceil((times[row] as number) / this.smoothing_s - 1e-9) - 1;
      const index = Math.min(parts.length - 1, Math.max(0, part));
      parts[index] = (parts[index] as number) + (bytes[row] as number) * 8e-6;
    }
  }

  #rows(table: Record<string, Column>, key: "flow" | "link", curves: Curve[]): void {
    const times = values(table.time_s);
    const owners = values(table[key]);
    const names = Object.keys(table).filter((name) => !FIXED.has(name));
    for (let row = 0; row < times.length; row += 1) {
      const curve = curves[owners[row] as number];
      if (curve === undefined) continue;
      curve.time.push(times[row] as number);
      for (const name of names) put(curve, name, values(table[name])[row] as number);
      this.#values += 1 + names.length;
      if (key === "flow") {
        for (const [of, amount, rate] of RATES) {
          put(curve, amount, before(curve, amount) + (values(table[of])[row] as number) * 8e-6);
          put(curve, rate, this.#rate(curve, amount));
        }
        this.#values += 2 * RATES.length;
      }
    }
  }

  /** The mean rate of an amount over the last while: the rate of a single sample mostly reflects the sampling. */
  #rate(curve: Curve, amount: string): number {
    const [column, rows] = [curve.columns.get(amount) as Samples, curve.time.length];
    const time = curve.time.at(rows - 1);
    const since = curve.time.upTo(time - this.smoothing_s) - 1;
    const [begin, had] = since < 0 ? [0, 0] : [curve.time.at(since), column.at(since)];
    return (column.at(rows - 1) - had) / (time - begin);
  }
}

const before = (curve: Curve, name: string): number => {
  const column = curve.columns.get(name);
  return column === undefined ? 0 : column.at(column.length - 1);
};

/** Adds the value of the newest row; a column that comes later than others has none before. */
function put(curve: Curve, name: string, value: number): void {
  let column = curve.columns.get(name);
  if (column === undefined) {
    column = new Samples();
    curve.columns.set(name, column);
  }
  while (column.length < curve.time.length - 1) column.push(Number.NaN);
  column.push(value);
}

/**
 * Returns a curve's value at a time.
 *
 * @returns The last value at or before it; undefined when there is none.
 */
export function at(curve: Curve, name: string, time: number): number | undefined {
  const row = curve.time.upTo(time) - 1;
  const column = curve.columns.get(name);
  return row < 0 || column === undefined ? undefined : column.at(row);
}
