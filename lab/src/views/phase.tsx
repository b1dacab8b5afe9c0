// The phase plane of two flows (Chiu and Jain, 1989): the goodput of one against that of the other.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { colour, dark, grid, ink } from "../colours.ts";
import { revision, shown_s, trace, zoom } from "../state.ts";
import { at } from "../trace.ts";
import { digits } from "../units.ts";

const COLUMNS = { rate_mbps: "goodput (Mbit/s)", window: "window (packets)" } as const;
type Column = keyof typeof COLUMNS;
const MARGIN = 40;

function draw(canvas: HTMLCanvasElement, x: number, y: number, column: Column): void {
  const seen = trace.value;
  const context = canvas.getContext("2d");
  const [first, second] = [seen?.flows[x], seen?.flows[y]];
  if (!seen || !context || !first || !second) return;
  const side = canvas.clientWidth;
  canvas.width = canvas.height = side * devicePixelRatio;
  context.scale(devicePixelRatio, devicePixelRatio);
  const [from, to] = zoom.value ?? [0, Infinity];
  const until = Math.min(to, shown_s.value);
  const points: [number, number][] = [];
  first.time.forEach((time, row) => {
    const other = at(second, column, time);
    const own = first.columns.get(column)?.[row];
    if (time >= from && time <= until && own !== undefined && other !== undefined) points.push([own, other]);
  });
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
  // On this line both have the same.
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
  const names = [seen.outline.flows[x]?.name ?? "", seen.outline.flows[y]?.name ?? ""];
  context.fillText(`${names[0]}: ${COLUMNS[column]}`, left, side - 10);
  context.textAlign = "right";
  context.fillText(digits(most), bottom, bottom + 14);
  context.textAlign = "left";
  context.save();
  context.rotate(-Math.PI / 2);
  context.fillText(`${names[1]}: ${COLUMNS[column]}`, -bottom, 16);
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
    if (canvas.current) draw(canvas.current, x.value, y.value, column.value);
  }, state);
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
        </span>
      </figcaption>
      <canvas ref={canvas} role="img" aria-label="Phase plane: one flow against the other; on the diagonal both have the same" />
    </figure>
  );
}
