// One chart: uPlot draws axes and curves; points and intervals are drawn over them.

import uPlot from "uplot";
import { apart, digits, splitsOf, titled, worded, type Axis, type Chart, type Column, type Range, type Series } from "./data.ts";
import { curveColour, gridColour, inkColour, paperColour } from "./palette.ts";

const HEIGHT = 200;
const HEIGHT_OF_POINTS = 300;
/** Pixels of an inch in print: a chart has the proportions that it has there. */
const PER_INCH = 120;
/** Pixels of a letter of a name below the axis; degrees by which names are turned that do not fit, and their height. */
const PER_LETTER = 7;
const STEEP = -40;
const STEEP_SIZE = 80;
/** Points nearer to the pointer than this are read, pixels. */
const REACH = 28;
const MOST_READ = 12;

/** The common state of a group's charts, and their messages to the group. */
export interface Shared {
  readonly columns: readonly Column[];
  readonly isDark: boolean;
  /** Names of series that are not shown. */
  readonly hidden: ReadonlySet<string>;
  /** Charts of one name have one pointer. */
  readonly sync: string | null;
  zoom(): Range | null;
  zoomed(range: Range | null): void;
}

interface Point {
  series: Series;
  x: number;
  y: number;
  row: number;
  isMean: boolean;
}

/** A chart on the page. */
export interface Drawn {
  plot: uPlot;
  refresh(): void;
  /** Moves the pointer by a share of the width. */
  step(share: number): void;
  destroy(): void;
}

const steps = uPlot.paths.stepped?.({ align: 1 }) as uPlot.Series.PathBuilder;

const numbers = (column: Column): (number | null)[] => column as (number | null)[];

/** Draws a chart into an element, and shows the values at the pointer in another. */
export function draw(chart: Chart, shared: Shared, host: HTMLElement, readout: HTMLElement): Drawn {
  const column = (index: number): Column => shared.columns[index] as Column;
  const isShown = (series: Series): boolean => !shared.hidden.has(series.name);
  const colour = (series: Series): string => (series.paper ? paperColour(shared.isDark) : curveColour(series.colour, shared.isDark));
  const stands = (series: Series): boolean => series.look === "points" || series.look === "bars";
  const hasBars = chart.series.some((series) => series.look === "bars");

  /** All that is drawn of a series at its ends: of curves their values, of points also what they are means of. */
  const known = new Map<Series, Point[]>();
  function points(series: Series): Point[] {
    const kept = known.get(series);
    if (kept) return kept;
    const [x, y] = [column(series.x), column(series.y)];
    const found: Point[] = [];
    known.set(series, found);
    const put = (across: number | null | undefined, up: number | null | undefined, row: number, isMean: boolean): void => {
      if (across != null && up != null) found.push({ series, x: across, y: up, row, isMean });
    };
    if (series.dots) column(series.dots[0]).forEach((one, row) => put(one, column((series.dots as [number, number])[1])[row], row, false));
    x.forEach((one, row) => put(one, y[row], row, true));
    return found;
  }

  function span(axis: Axis, of: "x" | "y", within: Range | null): [number, number] {
    // Only what is hidden or zoomed can ask for other ends than those of the picture in print.
    if (axis.names || axis.fixed || (!within && chart.series.every(isShown))) return [...axis.range];
    let [low, high] = [Infinity, -Infinity];
    const take = (value: number | null | undefined): void => {
      if (value == null || (axis.log && value <= 0)) return;
      low = Math.min(low, value);
      high = Math.max(high, value);
    };
    const ends = of === "y" ? (["low", "high"] as const) : (["left", "right"] as const);
    for (const series of chart.series) {
      if (!isShown(series)) continue;
      for (const one of points(series)) {
        if (within && (one.x < within[0] || one.x > within[1])) continue;
        take(one[of]);
        if (one.isMean) for (const end of ends) if (series[end] !== undefined) take(column(series[end])[one.row]);
      }
    }
    if (low > high) return axis.log ? [1, 10] : [0, 1];
    if (axis.log) return low === high ? [low / 2, high * 2] : [low / 1.1, high * 1.1];
    if (of === "x" && hasBars) return [...axis.range];
    if (of === "y" && hasBars) low = Math.min(0, low);
    if (of === "x" && chart.kind === "curves") {
      // A curve over time ends at the edges; means with intervals stand off from them.
      const edge = low === high ? 0.5 : chart.series.some((one) => one.low !== undefined) ? 0.02 * (high - low) : 0;
      return [low - edge, high + edge];
    }
    // From 0, unless that would squeeze everything into the upper half.
    const pad = 0.06 * (high - low || Math.abs(high) || 1);
    return [low >= 0 && low <= high / 2 ? 0 : low - pad, high + pad];
  }

  function aligned(): uPlot.AlignedData {
    if (chart.kind === "points" || chart.series.length === 0) {
      return [span(chart.x, "x", null), ...chart.series.map(() => [null, null])];
    }
    const tables = chart.series.map((one): uPlot.AlignedData => [numbers(column(one.x)) as number[], numbers(column(one.y))]);
    return uPlot.join(tables, tables.map(() => [1]));
  }

  const barWidth = chart.bar_width ?? 0.6;

  /** Bars as filled boxes, each from its base to its value. */
  function drawBars(plot: uPlot, series: Series): void {
    const { ctx } = plot;
    const base = series.base === undefined ? null : column(series.base);
    ctx.globalAlpha = 1;
    ctx.fillStyle = colour(series);
    for (const one of points(series)) {
      const [left, right] = [-0.5, 0.5].map((side) => plot.valToPos(one.x + side * barWidth, "x", true)) as [number, number];
      const [top, bottom] = [plot.valToPos(one.y, "y", true), plot.valToPos(base?.[one.row] ?? 0, "y", true)];
      ctx.fillRect(left, Math.min(top, bottom), right - left, Math.abs(bottom - top));
      if (!chart.has_numbers) continue;
      const high = series.high === undefined ? null : column(series.high)[one.row];
      ctx.font = `${11 * devicePixelRatio}px system-ui`;
      ctx.textAlign = "center";
      ctx.fillStyle = inkColour(shared.isDark);
      ctx.fillText(String(Number(one.y.toPrecision(3))), (left + right) / 2, plot.valToPos(high ?? one.y, "y", true) - 4 * devicePixelRatio);
      ctx.fillStyle = colour(series);
    }
  }

  /** What the paper states: a dashed line, a line across the bar, or a diamond around the point. */
  function drawPaper(plot: uPlot, series: Series): void {
    const { ctx } = plot;
    const scale = devicePixelRatio;
    ctx.globalAlpha = 1;
    ctx.strokeStyle = colour(series);
    ctx.lineWidth = (hasBars ? 2.5 : 1.5) * scale;
    if (!stands(series)) {
      ctx.setLineDash([6 * scale, 4 * scale]);
      ctx.beginPath();
      for (const { x, y } of points(series)) ctx.lineTo(plot.valToPos(x, "x", true), plot.valToPos(y, "y", true));
      ctx.stroke();
      ctx.setLineDash([]);
      return;
    }
    for (const one of points(series)) {
      const [x, y] = [plot.valToPos(one.x, "x", true), plot.valToPos(one.y, "y", true)];
      ctx.beginPath();
      if (hasBars) {
        const [left, right] = [-0.5, 0.5].map((side) => plot.valToPos(one.x + side * barWidth, "x", true)) as [number, number];
        // Its edges distinguish it from the bar.
        ctx.clearRect(left, y - 2.5 * scale, right - left, 5 * scale);
        ctx.moveTo(left, y);
        ctx.lineTo(right, y);
      } else {
        const size = 6 * scale;
        ctx.moveTo(x, y - size);
        for (const [across, up] of [[size, 0], [0, size], [-size, 0], [0, -size]] as const) ctx.lineTo(x + across, y + up);
      }
      ctx.stroke();
    }
  }

  function drawPoints(plot: uPlot): void {
    const { ctx, bbox } = plot;
    const scale = devicePixelRatio;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.strokeStyle = inkColour(shared.isDark);
    ctx.lineWidth = scale;
    for (const mark of chart.marks ?? []) {
      const x = plot.valToPos(mark, "x", true);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    for (const series of chart.series) {
      if (!isShown(series)) continue;
      const has = series.low !== undefined || series.left !== undefined;
      if (chart.kind === "curves" && !has && !stands(series) && !series.paper) continue;
      if (series.paper) {
        drawPaper(plot, series);
        continue;
      }
      if (series.look === "bars") drawBars(plot, series);
      ctx.strokeStyle = ctx.fillStyle = colour(series);
      ctx.lineWidth = 1.5 * scale;
      for (const one of points(series)) {
        const [x, y] = [plot.valToPos(one.x, "x", true), plot.valToPos(one.y, "y", true)];
        ctx.globalAlpha = one.isMean ? 1 : 0.45;
        if (series.look !== "bars") {
          ctx.beginPath();
          ctx.arc(x, y, (one.isMean ? 4 : 2.5) * scale, 0, 2 * Math.PI);
          ctx.fill();
        }
        if (!one.isMean) continue;
        if (series.look === "bars") ctx.strokeStyle = inkColour(shared.isDark);
        for (const [from, to, of] of [[series.low, series.high, "y"], [series.left, series.right, "x"]] as const) {
          const [start, end] = [from, to].map((end) => (end === undefined ? null : column(end)[one.row]));
          if (start == null || end == null) continue;
          ctx.beginPath();
          ctx.moveTo(of === "x" ? plot.valToPos(start, "x", true) : x, of === "y" ? plot.valToPos(start, "y", true) : y);
          ctx.lineTo(of === "x" ? plot.valToPos(end, "x", true) : x, of === "y" ? plot.valToPos(end, "y", true) : y);
          ctx.stroke();
        }
      }
    }
    ctx.restore();
  }

  /** What the paper states at a position: its points there, or the level of a line. */
  function statedAt(series: Series, x: number): string {
    const [first, last] = [points(series)[0], points(series).at(-1)];
    const isLevel = !stands(series) && first !== undefined && last !== undefined && first.x < last.x;
    if (isLevel) return x < first.x || x > last.x ? "" : worded(chart.y, first.y);
    return stands(series) ? points(series).filter((one) => one.x === x).map((one) => worded(chart.y, one.y)).join(", ") : "";
  }

  const interval = (low: number | undefined, high: number | undefined, row: number): string => {
    const ends = [low, high].map((end) => (end === undefined ? null : column(end)[row]));
    return ends.some((end) => end == null) ? "" : ` [${ends.map(digits).join(", ")}]`;
  };

  function lines(plot: uPlot): { head: string; rows: [Series, string][] } | null {
    const { left, top, idx } = plot.cursor;
    if (left === undefined || left < 0 || top === undefined) return null;
    if (chart.kind === "points") {
      let [nearest, distance]: [Point | null, number] = [null, REACH];
      for (const one of chart.series.filter(isShown).flatMap(points)) {
        const far = Math.hypot(plot.valToPos(one.x, "x") - left, plot.valToPos(one.y, "y") - top);
        if (far < distance) [nearest, distance] = [one, far];
      }
      if (nearest === null) return null;
      const { series, row, isMean } = nearest;
      const says = (axis: Axis, value: number, ends: string): string => {
        const text = worded(axis, value);
        return text === series.name ? "" : `${text}${ends}`;
      };
      const across = says(chart.x, nearest.x, isMean ? interval(series.left, series.right, row) : "");
      const up = says(chart.y, nearest.y, isMean ? interval(series.low, series.high, row) : "");
      const kind = isMean ? (series.dots ? "mean" : "") : `run ${row}`;
      return { head: kind, rows: [[series, [across, up].filter(Boolean).join("; ")]] };
    }
    if (idx === null || idx === undefined) return null;
    // The charts next to the one that is pointed at are brief, so that their curves stay in sight.
    const isBrief = plot.cursor.event == null && document.activeElement !== host;
    const rows: [Series, string][] = [];
    for (const [place, series] of chart.series.entries()) {
      const said = series.paper && isShown(series) ? statedAt(series, plot.data[0][idx] as number) : "";
      if (said) rows.push([series, said]);
      if (series.paper) continue;
      const row = plot.cursor.idxs?.[place + 1];
      const value = row == null ? null : plot.data[place + 1]?.[row];
      if (!isShown(series) || value == null) continue;
      // Where every value has an interval, it is the row of the column in which the value stands.
      const own = series.low === undefined ? -1 : column(series.x).indexOf(plot.data[0][row as number] as number);
      rows.push([series, isBrief ? digits(value) : worded(chart.y, value) + (own < 0 ? "" : interval(series.low, series.high, own))]);
    }
    return { head: worded(chart.x, plot.data[0][idx] as number), rows };
  }

  function read(plot: uPlot): void {
    const found = lines(plot);
    readout.hidden = found === null || found.rows.length === 0;
    if (found === null) return;
    const items = found.rows.slice(0, MOST_READ).map(([series, text]) => {
      const item = document.createElement("li");
      const key = document.createElement("i");
      key.style.background = colour(series);
      item.append(key, `${series.name} `, Object.assign(document.createElement("b"), { textContent: text }));
      return item;
    });
    const more = found.rows.length - items.length;
    const list = document.createElement("ul");
    list.append(...items);
    if (more > 0) list.append(Object.assign(document.createElement("li"), { textContent: `and ${more} more` }));
    readout.replaceChildren(found.head, list);
    // On the side of the pointer where there is room.
    const left = plot.over.offsetLeft + (plot.cursor.left ?? 0);
    const isRight = left < plot.width / 2;
    readout.style.left = isRight ? `${left + 12}px` : "auto";
    readout.style.right = isRight ? "auto" : `${plot.width - left + 12}px`;
  }

  const ends = new Map<number, number>();
  /** The row of a curve that is read: its last value at or before the pointer, as long as the curve continues. */
  function rowRead(plot: uPlot, place: number, row: number): number {
    const values = plot.data[place];
    if (place === 0 || !values) return row;
    if (!ends.has(place)) ends.set(place, (values as unknown[]).findLastIndex((value) => value != null));
    if (row > (ends.get(place) as number)) return row;
    let before = row;
    while (before > 0 && values[before] == null) before -= 1;
    return before;
  }

  function options(): uPlot.Options {
    const [ink, grid] = [inkColour(shared.isDark), gridColour(shared.isDark)];
    const base = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
    const letters = (chart.x.names ?? []).reduce((sum, name) => sum + name.length + 2, 0);
    const isCrowded = letters * PER_LETTER > host.clientWidth;
    // The places that are labelled in print, as long as the same is shown; else those that fit.
    const isAsPrinted = (axis: Axis, low: number, high: number): boolean => low === axis.range[0] && high === axis.range[1];
    const word = (axis: Axis, value: number): string => axis.ticks.find(([place]) => place === value)?.[1] ?? digits(value);
    const named = (axis: Axis): Partial<uPlot.Axis> => ({
      splits: (_: uPlot, __: number, low: number, high: number, step: number) =>
        axis.names || isAsPrinted(axis, low, high) ? axis.ticks.map(([place]) => place) : splitsOf(axis, low, high, step),
      values: (plot: uPlot, splits: number[]) => {
        const words = splits.map((one) => (one == null ? "" : word(axis, one)));
        return axis === chart.x && !axis.names ? apart(words, splits.map((one) => plot.valToPos(one, "x"))) : words;
      },
      ...(axis.log ? { filter: (_: uPlot, splits: number[]) => splits } : {}),
      ...(axis.names ? { grid: { show: false } } : {}),
    });
    const widest = Math.max(0, ...(chart.y.names ?? []).map((name) => name.length));
    const labelled = chart.kind === "points" && !chart.y.names ? { label: titled(chart.y), labelSize: 18, labelFont: "12px system-ui" } : {};
    const isTold = titled(chart.x) === chart.title;
    const isTime = chart.x.unit === "s" && chart.x.label === "time";
    return {
      width: host.clientWidth,
      height: chart.y.names
        ? 50 + 24 * chart.y.names.length
        : Math.max(chart.kind === "points" ? HEIGHT_OF_POINTS : HEIGHT, PER_INCH * (chart.height ?? 0)),
      legend: { show: false },
      cursor: {
        ...(shared.sync === null ? {} : { sync: { key: shared.sync, setSeries: false } }),
        drag: { x: true, y: false, setScale: false },
        points: { size: 6 },
        dataIdx: rowRead,
      },
      scales: {
        x: { time: false, distr: chart.x.log ? 3 : 1, range: () => [...(shared.zoom() ?? span(chart.x, "x", null))] as [number, number] },
        y: { distr: chart.y.log ? 3 : 1, dir: chart.y.names ? -1 : 1, range: () => span(chart.y, "y", chart.kind === "curves" ? shared.zoom() : null) },
      },
      axes: [
        { ...base, ...named(chart.x), ...(isTime ? { size: 30, values: (_: uPlot, splits: number[]) => splits.map((one) => `${word(chart.x, one)} s`) } : isTold ? { size: 30 } : { size: 34, label: titled(chart.x), labelSize: 18, labelFont: "12px system-ui" }), ...(isCrowded ? { rotate: STEEP, size: STEEP_SIZE } : {}) },
        { ...base, size: chart.y.names ? Math.min(0.45 * host.clientWidth, 20 + 7 * widest) : 58, ...labelled, ...named(chart.y) },
      ],
      series: [
        {},
        ...chart.series.map((one): uPlot.Series => ({
          label: one.name,
          show: isShown(one),
          stroke: colour(one),
          dash: one.colour >= 8 ? [6, 4] : [],
          // Names have no order that a line could follow.
          width: chart.x.names || stands(one) || one.paper ? 0 : 1.6,
          ...(one.look === "steps" ? { paths: steps } : {}),
          pxAlign: 0,
          spanGaps: false,
          points: { show: false },
        })),
      ],
      hooks: {
        draw: [drawPoints],
        setCursor: [read],
        setSelect: [
          (plot) => {
            const { left, width } = plot.select;
            if (width >= 4) shared.zoomed([plot.posToVal(left, "x"), plot.posToVal(left + width, "x")]);
            plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
      },
    };
  }

  const plot = new uPlot(options(), aligned(), host);
  // For tests, and for inspection in a console.
  Object.assign(host, { plot });
  plot.over.addEventListener("dblclick", () => shared.zoomed(null));
  const observer = new ResizeObserver(() => plot.setSize({ width: host.clientWidth, height: plot.height }));
  observer.observe(host);
  return {
    plot,
    refresh: () => {
      chart.series.forEach((one, place) => plot.series[place + 1]!.show !== isShown(one) && plot.setSeries(place + 1, { show: isShown(one) }, false));
      plot.setData(plot.data);
    },
    step: (share) => {
      const width = plot.over.clientWidth;
      const from = plot.cursor.left === undefined || plot.cursor.left < 0 ? (share > 0 ? 0 : width) : plot.cursor.left;
      plot.setCursor({ left: Math.min(width - 1, Math.max(0, from + share * width)), top: plot.over.clientHeight / 2 });
    },
    destroy: () => {
      observer.disconnect();
      plot.destroy();
    },
  };
}
