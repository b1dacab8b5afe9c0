// Exports: files that are made in the page.

import type { Panel } from "./panels.ts";
import type { Samples } from "./samples.ts";
import type { Curve, Trace } from "./trace.ts";

/** Downloads a file. */
export function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** The shown data as CSV: a row per flow and sample, up to a time and within the zoomed range. */
export function csv(trace: Trace, hidden: ReadonlySet<string>, from: number, to: number): string {
  const names = [...new Set(trace.flows.flatMap((flow) => [...flow.columns.keys()]))];
  const columns = (flow: Curve): (Samples | undefined)[] => names.map((name) => flow.columns.get(name));
  const rows = [["time_s", "flow", ...names].join(",")];
  trace.flows.forEach((flow, index) => {
    const name = trace.outline.flows[index]?.name ?? "";
    if (hidden.has(name)) return;
    const quoted = /[",\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name;
    const values = columns(flow);
    for (let row = 0; row < flow.time.upTo(to); row += 1) {
      const time = flow.time.at(row);
      if (time < from) continue;
      const cells = values.map((column) => {
        const value = column?.at(row) ?? Number.NaN;
        return Number.isNaN(value) ? "" : String(value);
      });
      rows.push([String(time), quoted, ...cells].join(","));
    }
  });
  return `${rows.join("\n")}\n`;
}

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** A plot as SVG, drawn from its numbers. */
export function svg(panel: Panel, from: number, to: number): string {
  const [width, height, left, right, top, bottom] = [800, 320, 60, 130, 30, 36];
  const inside = panel.lines.map((line) => {
    const { x, y } = line.points(from, to, 2 * width);
    return x.flatMap((time, row): [number, number][] => {
      const value = y[row] as number;
      return time < from || time > to || Number.isNaN(value) ? [] : [[time, value]];
    });
  });
  const most = panel.stacked ? 1 : inside.flat().reduce((largest, [, value]) => Math.max(largest, value), 1e-9) * 1.08;
  const x = (time: number): number => left + ((time - from) / (to - from || 1)) * (width - left - right);
  const y = (value: number): number => height - bottom - (value / most) * (height - top - bottom);
  const ticks = Array.from({ length: 6 }, (_, index) => index / 5);
  const label = (value: number): string => String(Number(value.toPrecision(3)));
  const parts = ticks.flatMap((part) => {
    const [time, value] = [from + part * (to - from), part * most];
    return [
      `<text x="${x(time)}" y="${height - 14}" text-anchor="middle">${label(time)}</text>`,
      `<text x="${left - 6}" y="${y(value) + 4}" text-anchor="end">${label(value)}</text>`,
      `<path d="M${left} ${y(value)}H${width - right}" stroke="#ddd"/>`,
    ];
  });
  panel.lines.forEach((line, index) => {
    if (line.isBlank) return;
    const points = (inside[index] ?? []).map(([time, value]) => `${x(time).toFixed(1)},${y(value).toFixed(1)}`);
    const dash = line.isGhost ? ' stroke-dasharray="4 4" opacity="0.55"' : "";
    parts.push(`<polyline fill="none" stroke="${line.colour}" stroke-width="1.4"${dash} points="${points.join(" ")}"/>`);
    const name = escaped(line.isGhost ? `${line.name} before` : line.name);
    parts.push(`<text x="${width - right + 8}" y="${top + 12 + 16 * index}" fill="${line.colour}">${name}</text>`);
  });
  const title = escaped(panel.unit === "" ? panel.title : `${panel.title} (${panel.unit})`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${height}" fill="#fff"/><text x="${left}" y="18" font-size="14">${title}</text>`,
    ...parts,
    `<text x="${(left + width - right) / 2}" y="${height - 2}" text-anchor="middle">time (s)</text></svg>\n`,
  ].join("\n");
}

/** The phase plane as SVG: pairs of values, the names of the two axes, and the line on which x equals y. */
export function plane(points: readonly (readonly [number, number])[], names: readonly [string, string], colour: string): string {
  const [side, margin] = [420, 44];
  const most = points.reduce((largest, [a, b]) => Math.max(largest, a, b), 1e-9) * 1.05;
  const scale = (side - 2 * margin) / most;
  const path = points.map(([a, b]) => `${(margin + a * scale).toFixed(1)},${(side - margin - b * scale).toFixed(1)}`).join(" ");
  const [near, far] = [margin, side - margin];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${side} ${side}" font-family="sans-serif" font-size="12">`,
    `<rect width="${side}" height="${side}" fill="#fff"/><path d="M${near} ${far}L${far} ${near}" stroke="#ddd"/>`,
    `<path d="M${near} ${near}V${far}H${far}" fill="none" stroke="#333"/>`,
    `<polyline fill="none" stroke="${colour}" points="${path}"/>`,
    `<text x="${near}" y="${side - 12}">${escaped(names[0])}</text>`,
    `<text x="${far}" y="${far + 14}" text-anchor="end">${Number(most.toPrecision(3))}</text>`,
    `<text transform="translate(16 ${far}) rotate(-90)">${escaped(names[1])}</text></svg>\n`,
  ].join("\n");
}
