// One plot over time, drawn by uPlot, which also reports the position of the pointer.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { dark, grid, ink } from "../colours.ts";
import { draws, drawsNot } from "../frames.ts";
import type { Panel } from "../panels.ts";
import { hover_s, shown_s, trace, zoom } from "../state.ts";
import { Export } from "./export.tsx";

const HEIGHT = 190;
/** Pixels of a plot that has no width yet. */
const LEAST_WIDTH = 200;
const SYNC = uPlot.sync("time");

/** The zoomed range of the run, seconds. */
const range = (): readonly [number, number] => zoom.value ?? [0, trace.value?.outline.duration_s ?? 1];

/** Points of all curves on one time axis, up to the time shown: a pixel has at most two points of a curve. */
function aligned(panel: Panel, until: number, width: number): uPlot.AlignedData {
  const [from, to] = range();
  const tables = panel.lines.map((line): uPlot.AlignedData => {
    const { x, y } = line.points(from, Math.min(to, until), 2 * Math.max(width, LEAST_WIDTH));
    // The value after the last that is shown belongs to a time that is not shown yet.
    while (x.length > 0 && (x.at(-1) as number) > until) (x.pop(), y.pop());
    return [x, y.map((value) => (Number.isNaN(value) ? null : value))];
  });
  const first = tables[0];
  if (first === undefined) return [[]];
  const isOne = tables.every((table) => table[0].length === first[0].length && table[0].every((x, row) => x === first[0][row]));
  if (isOne) return [first[0], ...tables.map((table) => table[1] as (number | null)[])];
  return uPlot.join(tables, tables.map(() => [1]));
}

function drawMarks(plot: uPlot, names: ReadonlySet<string>): void {
  const seen = trace.value;
  if (!seen) return;
  const { ctx, bbox } = plot;
  ctx.save();
  for (const mark of seen.marks) {
    const name = seen.outline.flows[mark.flow]?.name ?? "";
    const series = plot.series.find((one) => one.label === name);
    const x = plot.valToPos(mark.time, "x", true);
    if (series === undefined || !names.has(name) || mark.time > shown_s.value) continue;
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.fillStyle = String(typeof series.stroke === "function" ? series.stroke(plot, 0) : series.stroke);
    const size = (mark.kind === "timeout" ? 7 : 4) * devicePixelRatio;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top + size * 1.6);
    ctx.lineTo(x - size, bbox.top);
    ctx.lineTo(x + size, bbox.top);
    ctx.fill();
  }
  ctx.restore();
}

function options(panel: Panel, width: number): uPlot.Options {
  const axis = { stroke: ink(), grid: { stroke: grid(), width: 1 }, ticks: { stroke: grid(), width: 1 } };
  const bottom = panel.lines[0];
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { sync: { key: SYNC.key, setSeries: false }, drag: { x: true, y: false }, points: { size: 6 } },
    scales: {
      x: { time: false, range: () => [...range()] as [number, number] },
      y: { range: (_, low, high) => (panel.stacked ? [0, 1] : [Math.min(0, low ?? 0), (high || 1) * 1.08]) },
    },
    axes: [
      { ...axis, size: 28, values: (_, splits) => splits.map((one) => `${one} s`) },
      { ...axis, size: 56 },
    ],
    series: [
      {},
      ...panel.lines.map((line): uPlot.Series => ({
        label: line.isGhost ? `${line.name} before` : line.name,
        stroke: line.colour,
        width: line.isBlank ? 0 : line.isGhost ? 1 : 1.6,
        dash: line.isGhost ? [4, 4] : [],
        alpha: line.isGhost ? 0.55 : 1,
        points: { show: false },
        ...(panel.stacked && line === bottom && !line.isBlank ? { fill: `${line.colour}55` } : {}),
      })),
    ],
    bands: panel.stacked
      ? panel.lines.slice(1).map((line, index) => ({ series: [index + 2, index + 1], fill: line.isBlank ? "transparent" : `${line.colour}55` }))
      : [],
    hooks: {
      draw: panel.key === "window" ? [(plot) => drawMarks(plot, new Set(panel.lines.map((line) => line.name)))] : [],
      setCursor: [
        (plot) => {
          const { left } = plot.cursor;
          const isOver = left !== undefined && left >= 0;
          if (document.activeElement !== plot.root) hover_s.value = isOver ? plot.posToVal(left, "x") : null;
        },
      ],
      setSelect: [
        (plot) => {
          const { left, width: wide } = plot.select;
          if (wide < 4) return;
          zoom.value = [plot.posToVal(left, "x"), plot.posToVal(left + wide, "x")];
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
    },
  };
}

/** A plot over time, with its title and its exports. */
export function Plot({ panel }: { panel: Panel }) {
  const host = useRef<HTMLDivElement>(null);
  const made = useRef<uPlot | null>(null);
  const shape = JSON.stringify([panel.key, panel.stacked, dark.value, panel.lines.map((one) => [one.name, one.colour, one.isGhost, one.isBlank])]);
  const until = shown_s.value;
  const shown = zoom.value;

  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const plot = new uPlot(options(panel, element.clientWidth), aligned(panel, shown_s.value, element.clientWidth), element);
    plot.over.addEventListener("dblclick", () => (zoom.value = null));
    made.current = plot;
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      drawsNot(made);
      plot.destroy();
      made.current = null;
    };
  }, [shape]);

  useEffect(() => {
    draws(made, () => made.current?.setData(aligned(panel, until, made.current.width)));
  }, [panel, until, shown]);

  const unit = panel.unit === "" ? "" : ` (${panel.unit})`;
  return (
    <figure class="plot" data-plot={panel.key}>
      <figcaption>
        <h3>{`${panel.title}${unit}`}</h3>
        <Export panel={panel} canvas={() => made.current?.ctx.canvas ?? null} />
      </figcaption>
      <div ref={host} class="canvas" role="img" aria-label={`${panel.title}${unit} against time; the numbers are in the tables`} />
    </figure>
  );
}
