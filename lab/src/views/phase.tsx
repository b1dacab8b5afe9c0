// The phase plane of two flows (Chiu and Jain, 1989): the goodput of one flow against the goodput of the other.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { colour, dark, grid, ink } from "../colours.ts";
import { draws, drawsNot } from "../frames.ts";
import { revision, shown_s, trace, zoom } from "../state.ts";
import { plane, save } from "../take.ts";
import { at, type Trace } from "../trace.ts";
import { digits } from "../units.ts";

const COLUMNS = { rate_mbps: "goodput (Mbit/s)", window: "window (packets)" } as const;
type Column = keyof typeof COLUMNS;
const MARGIN = 40;
/** Points of the path; of a longer path only every second, third and so on is drawn. */
const MOST_POINTS = 6000;

/** Pairs of values up to the shown time, within the zoomed range. */
function pairs(seen: Trace, x: number, y: number, column: Column): [number, number][] {
  const [first, second] = [seen.flows[x], seen.flows[y]];
  if (!first || !second) return [];
  const [from, to] = zoom.value ?? [0, Infinity];
  const until = Math.min(to, shown_s.value);
  const own = first.columns.get(column);
  const [begin, end] = [Math.max(0, first.time.upTo(from) - 1), first.time.upTo(until)];
  const step = Math.max(1, Math.ceil((end - begin) / MOST_POINTS));
  const points: [number, number][] = [];
  for (let row = begin; row < end; row += step) {
    const pair = [own?.at(row), at(second, column, first.time.at(row))];
    if (first.time.at(row) >= from && pair.every(Number.isFinite)) points.push(pair as [number, number]);
  }
  return points;
}

const labels = (seen: Trace, x: number, y: number, column: Column): [string, string] => [
  `${seen.outline.flows[x]?.name ?? ""}: ${COLUMNS[column]}`,
  `${seen.outline.flows[y]?.name ?? ""}: ${COLUMNS[column]}`,
];

function draw(canvas: HTMLCanvasElement, x: number, y: number, column: Column): void {
  const seen = trace.value;
  const context = canvas.getContext("2d");
  if (!seen || !context) return;
  const side = canvas.clientWidth;
  canvas.width = canvas.height = side * devicePixelRatio;
  context.scale(devicePixelRatio, devicePixelRatio);
  const points = pairs(seen, x, y, column);
  const most = points.reduce((largest, [a, b]) => Math.max(largest, a, b), 1) * 1.05;
  const [left, bottom] = [MARGIN, side - MARGIN];
  const place = ([a, b]: readonly [number, number]): [number, number] => [
    left + (a / most) * (bottom - 8),
    bottom - (b / most) * (bottom - 8),
  ];
  const path = (list: readonly (readonly [number, number])[], style: string, width: number): void => {
    context.beginPath();
    for (const one of list) context.lineTo(...place(one));
    context.strokeStyle = style;
    context.lineWidth = width;
    context.stroke();
  };
  path([[0, most], [0, 0], [most, 0]], ink(), 1);
  // On this line the two flows are equal.
  path([[0, 0], [most, most]], grid(), 2);
  path(points, `${colour(x)}66`, 1);
  path(points.slice(-60), colour(y), 2);
  const last = points.at(-1);
  context.fillStyle = ink();
  context.font = "12px system-ui, sans-serif";
  if (last) {
    context.beginPath();
    context.arc(...place(last), 5, 0, 7);
    context.fill();
  }
  const [across, up] = labels(seen, x, y, column);
  context.fillText(across, left, side - 10);
  context.textAlign = "right";
  context.fillText(digits(most), bottom, bottom + 14);
  context.textAlign = "left";
  context.save();
  context.rotate(-Math.PI / 2);
  context.fillText(up, -bottom, 16);
  context.restore();
}

/** The phase plane with a choice of flows. */
export function Phase() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [x, y] = [useSignal(0), useSignal(1)];
  const column = useSignal<Column>("rate_mbps");
  const names = trace.value?.outline.flows.slice(0, trace.value.flows.length).map((flow) => flow.name) ?? [];
  const state = [revision.value, shown_s.value, zoom.value, dark.value, x.value, y.value, column.value, trace.value];
  useEffect(() => {
    draws(canvas, () => canvas.current && draw(canvas.current, x.value, y.value, column.value));
  }, state);
  useEffect(() => () => drawsNot(canvas), []);
  const vector = (): void => {
    const seen = trace.value;
    if (!seen) return;
    const text = plane(pairs(seen, x.value, y.value, column.value), labels(seen, x.value, y.value, column.value), colour(x.value));
    save("phase.svg", new Blob([text], { type: "image/svg+xml" }));
  };
  const pixels = (): void => canvas.current?.toBlob((blob) => blob && save("phase.png", blob));
  if (names.length < 2) return <p class="hint">The phase plane needs two flows.</p>;
  const pick = (of: typeof x, label: string) => (
    <label>
      {label}{" "}
      <select value={of.value} onChange={(event) => (of.value = Number(event.currentTarget.value))}>
        {names.map((name, index) => (
          <option key={name} value={index}>{name}</option>
        ))}
      </select>
    </label>
  );
  return (
    <figure class="plot phase" data-plot="phase">
      <figcaption>
        <h3>Phase plane</h3>
        <span class="tools">
          {pick(x, "across")} {pick(y, "up")}{" "}
          <label>
            of{" "}
            <select value={column.value} onChange={(event) => (column.value = event.currentTarget.value as Column)}>
              {Object.entries(COLUMNS).map(([key, label]) => (
                <option key={key} value={key}>{label}</option>
              ))}
            </select>
          </label>
          <button type="button" onClick={vector} aria-label="Phase plane as SVG">SVG</button>
          <button type="button" onClick={pixels} aria-label="Phase plane as PNG">PNG</button>
        </span>
      </figcaption>
      <canvas ref={canvas} role="img" aria-label="Phase plane: one flow against the other; on the diagonal they are equal" />
    </figure>
  );
}
