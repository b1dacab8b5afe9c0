// The plots over time, as points for a picture or a file.

import { colour } from "./colours.ts";
import { pointsOf, type Points } from "./samples.ts";
import { MOST_DRAWN, type Curve, type Sharing, type Trace } from "./trace.ts";

/** One curve of a plot. */
export interface Line {
  name: string;
  colour: string;
  isGhost: boolean;
  /** Stacked but invisible: a hidden flow still has its share. */
  isBlank?: boolean;
  /** Its points between two times, in at most about as many as are asked for. */
  points(from: number, to: number, most: number): Points;
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

const OTHERS_COLOUR = "#999999";
/** The column that is offered with the internals of controls, with its title and unit. */
const IN_ORDER = ["in_order_mbps", "Delivered in order", "Mbit/s"] as const;

/** The name of a column that is offered with the internals of controls. */
export const called = (column: string): string => (column === IN_ORDER[0] ? "delivered in order" : column);

function line(curve: Curve, column: string, name: string, index: number, isGhost: boolean): Line {
  return {
    name,
    colour: colour(index),
    isGhost,
    points: (from, to, most) => {
      const values = curve.columns.get(column);
      return values === undefined ? { x: [], y: [] } : pointsOf(curve.time, values, from, to, most);
    },
  };
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
    // The reverse direction usually carries acknowledgements and has no queue.
    const isSeen = index === 0 || (!name.endsWith("reverse") && index < MOST_DRAWN);
    return isSeen ? [line(curve, column, name, index, isGhost)] : [];
  });
}

/** Shares of the arrivals of all flows on a link: flows that are not drawn have one common band, the last. */
function shares(trace: Trace, sharing: Sharing, hidden: ReadonlySet<string>): Line[] {
  const drawn = sharing.flows.filter((flow) => flow < trace.flows.length);
  const groups = drawn.map((flow) => [flow]);
  const others = sharing.flows.filter((flow) => flow >= trace.flows.length);
  if (others.length > 0) groups.push(others);
  const amount = (flows: readonly number[], part: number): number =>
    flows.reduce((sum, flow) => sum + (trace.arrived[flow]?.[part] ?? 0), 0);
  const upTo = (place: number, from: number, to: number): Points => {
    const points: Points = { x: [], y: [] };
    const parts = trace.arrived[0]?.length ?? 0;
    for (let part = 0; part < parts; part += 1) {
      const end = Math.min(trace.outline.duration_s, (part + 1) * trace.smoothing_s);
      if (end - trace.smoothing_s > trace.now_s || end < from || end - trace.smoothing_s > to) continue;
      const all = amount(sharing.flows, part);
      points.x.push(end);
      points.y.push(all > 0 ? amount(groups.slice(0, place + 1).flat(), part) / all : Number.NaN);
    }
    return points;
  };
  return groups.map(([flow], place): Line => {
    const isOthers = place === drawn.length;
    const name = trace.outline.flows[flow as number]?.name ?? "";
    return {
      name: isOthers && others.length > 1 ? `${others.length} more` : name,
      colour: isOthers ? OTHERS_COLOUR : colour(flow as number),
      isGhost: false,
      isBlank: !isOthers && hidden.has(name),
      points: (from, to) => upTo(place, from, to),
    };
  });
}

/** The plots of a run, with the curves of the kept run behind them. */
export function panels(
  trace: Trace,
  ghost: Trace | null,
  hidden: ReadonlySet<string>,
  internal: string,
  shared = 0,
): Panel[] {
  const both = (of: (trace: Trace, isGhost: boolean) => Line[]): Line[] => [
    ...(ghost ? of(ghost, true) : []),
    ...of(trace, false),
  ];
  const flows = (key: string, title: string, unit: string, column = key): Panel => ({
    key,
    title,
    unit,
    lines: both((one, isGhost) => ofFlows(one, column, hidden, isGhost)),
  });
  const mean = `, mean of ${Number(trace.smoothing_s.toPrecision(2))} s`;
  const queue = { key: "queue", title: "Queue", unit: "packets", lines: both((one, is) => ofLinks(one, "max_packets", is)) };
  const sharing = trace.sharings[shared] ?? trace.sharings[0] ?? { link: "", flows: [] };
  const share = {
    key: "share",
    title: trace.sharings.length > 1 ? `Shares of ${sharing.link}` : "Shares of the goodput",
    unit: "",
    stacked: true,
    lines: shares(trace, sharing, hidden),
  };
  const inside =
    internal === IN_ORDER[0]
      ? flows("internal", `${IN_ORDER[1]}${mean}`, IN_ORDER[2], internal)
      : flows("internal", `Inside the controls: ${internal}`, "", internal);
  return [
    flows("window", "Congestion window", "packets"),
    flows("rate_mbps", `Goodput as it arrives${mean}`, "Mbit/s"),
    queue,
    flows("rtt_ms", "Round-trip time", "ms"),
    ...(trace.hasDelays() ? [flows("one_way_delay_ms", "One-way delay of datagrams", "ms")] : []),
    share,
    ...(internal === "" ? [] : [inside]),
  ];
}
