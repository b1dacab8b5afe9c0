// The plots over time: what each shows, as columns that a picture, a table or a file can be made of.

import { colour } from "./colours.ts";
import { MOST_DRAWN, type Curve, type Trace } from "./trace.ts";

/** One curve of a plot. */
export interface Line {
  name: string;
  colour: string;
  time: readonly number[];
  values: readonly number[];
  isGhost: boolean;
}

/** One plot. */
export interface Panel {
  key: string;
  title: string;
  unit: string;
  /** Whether curves lie on top of each other, from 0 to 1. */
  stacked?: boolean;
  lines: Line[];
}

/** The columns that flows are plotted by: key, title, unit. */
const OF_FLOWS = [
  ["window", "Congestion window", "packets"],
  ["rate_mbps", "Goodput", "Mbit/s"],
  ["rtt_ms", "Round-trip time", "ms"],
] as const;

function line(curve: Curve, column: string, name: string, index: number, isGhost: boolean): Line {
  return { name, colour: colour(index), time: curve.time, values: curve.columns.get(column) ?? [], isGhost };
}

function ofFlows(trace: Trace, column: string, hidden: ReadonlySet<string>, isGhost: boolean): Line[] {
  return trace.flows.flatMap((curve, index) => {
    const name = trace.outline.flows[index]?.name ?? "";
    return hidden.has(name) ? [] : [line(curve, column, name, index, isGhost)];
  });
}

function ofLinks(trace: Trace, column: string, isGhost: boolean): Line[] {
  return trace.links.flatMap((curve, index) => {
    const name = trace.outline.links[index] ?? "";
    // What comes back is acknowledgements, as a rule, and no queue.
    const isSeen = index === 0 || (!name.endsWith("reverse") && index < MOST_DRAWN);
    return isSeen ? [line(curve, column, name, index, isGhost)] : [];
  });
}

function shares(trace: Trace, hidden: ReadonlySet<string>): Line[] {
  const lines = ofFlows(trace, "rate_mbps", hidden, false);
  const time = lines[0]?.time ?? [];
  const same = lines.filter((one) => one.time.length === time.length);
  let made: number[][] | undefined;
  const stack = (): number[][] => {
    const below = time.map(() => 0);
    const sums = time.map((_, row) => same.reduce((sum, one) => sum + (one.values[row] ?? 0), 0));
    return same.map((one) =>
      time.map((_, row) => {
        const sum = sums[row] as number;
        below[row] = (below[row] as number) + (sum > 0 ? (one.values[row] ?? 0) / sum : Number.NaN);
        return below[row] as number;
      }),
    );
  };
  // Only a picture that is drawn needs them.
  return same.map((one, index) => ({
    ...one,
    get values() {
      if (made?.[0]?.length !== time.length) made = stack();
      return made[index] as number[];
    },
  }));
}

/** The plots of a run, with the curves of the one before behind them. */
export function panels(trace: Trace, ghost: Trace | null, hidden: ReadonlySet<string>, internal: string): Panel[] {
  const both = (of: (trace: Trace, isGhost: boolean) => Line[]): Line[] => [
    ...(ghost ? of(ghost, true) : []),
    ...of(trace, false),
  ];
  const flows = OF_FLOWS.map(([key, title, unit]) => ({
    key,
    title: key === "rate_mbps" ? `${title}, mean of ${Number(trace.smoothing_s.toPrecision(2))} s` : title,
    unit,
    lines: both((one, isGhost) => ofFlows(one, key, hidden, isGhost)),
  }));
  const queue = { key: "queue", title: "Queue", unit: "packets", lines: both((one, is) => ofLinks(one, "max_packets", is)) };
  const share = { key: "share", title: "Shares of the goodput", unit: "", stacked: true, lines: shares(trace, hidden) };
  const inside = {
    key: "internal",
    title: `Inside the controls: ${internal}`,
    unit: "",
    lines: both((one, isGhost) => ofFlows(one, internal, hidden, isGhost)),
  };
  const [window, rate, rtt] = flows;
  return [window, rate, queue, rtt, share, ...(internal === "" ? [] : [inside])] as Panel[];
}
