// The data of a page's charts, as its writer (ackclock/draw/charts.py) supplies them.

/** A column of numbers; null where there is none. */
export type Column = readonly (number | null)[];

/** The ends of the shown part of an axis. */
export type Range = readonly [number, number];

/** An axis. */
export interface Axis {
  label: string;
  unit: string;
  log?: boolean;
  /** Names in place of the numbers 0, 1, 2, ... */
  names?: readonly string[];
  /** The ends, and the places that are labelled, as in print. */
  range: Range;
  ticks: readonly (readonly [number, string])[];
  /** The ends stay when names are hidden. */
  fixed?: boolean;
}

/** A curve or a set of points, each column by its number. */
export interface Series {
  name: string;
  /** Number of its colour. */
  colour: number;
  x: number;
  y: number;
  /** Ends of intervals around y, and around x. */
  low?: number;
  high?: number;
  left?: number;
  right?: number;
  /** A line joins the values by default. */
  look?: "steps" | "points" | "bars";
  /** Where bars begin. */
  base?: number;
  /** Values stated by a paper, as grey marks. */
  paper?: boolean;
  /** What the points are means of. */
  dots?: readonly [number, number];
}

/** One chart. */
export interface Chart {
  key: string;
  title: string;
  x: Axis;
  y: Axis;
  /** Curves are joined; points are read one by one. */
  kind: "curves" | "points";
  /** Places along the x axis with a vertical line. */
  marks?: readonly number[];
  /** Inches in print. */
  height?: number;
  bar_width?: number;
  /** Whether the value stands above each bar. */
  has_numbers?: boolean;
  series: readonly Series[];
}

/** Charts that have one legend; linked ones are zoomed and read together. */
export interface Group {
  linked: boolean;
  /** How many stand side by side. */
  columns: number;
  charts: readonly Chart[];
}

/** All charts of a page, by the name of their place. */
export interface Page {
  columns: readonly Column[];
  groups: Readonly<Record<string, Group>>;
}

/** Up to four digits of a number, for people. */
export function digits(value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  return Math.abs(value) >= 1e4 && Math.abs(value) < 1e9 ? value.toFixed(0) : String(Number(value.toPrecision(4)));
}

/** A value of an axis with its unit. */
export function worded(axis: Axis, value: number): string {
  const name = axis.names?.[Math.round(value)];
  return name ?? (axis.unit === "" ? digits(value) : `${digits(value)} ${axis.unit}`);
}

/** Width of a letter at an axis, pixels. */
const PER_LETTER = 7;

/** The words at places, in pixels, without those that would lie on the word before. */
export function apart(words: readonly string[], places: readonly number[]): string[] {
  let end = -Infinity;
  return words.map((word, index) => {
    const [place, half] = [places[index] as number, ((word.length + 1) * PER_LETTER) / 2];
    if (word === "" || place - half < end) return "";
    end = place + half;
    return word;
  });
}

/** The name of an axis with its unit. */
export const titled = (axis: Axis): string => (axis.unit === "" ? axis.label : `${axis.label} (${axis.unit})`);

/** Labelled places of an axis that is zoomed: round numbers; on a logarithmic one 1, 2 and 5 times powers of ten. */
export function splitsOf(axis: Axis, low: number, high: number, step: number): number[] {
  const places: number[] = [];
  if (axis.log) {
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power += 1) {
      for (const factor of [1, 2, 5]) places.push(Number((factor * 10 ** power).toPrecision(3)));
    }
  } else {
    for (let count = Math.ceil(low / step - 1e-9); count * step <= high + 1e-9 * step; count += 1) places.push(Number((count * step).toPrecision(12)));
  }
  return places.filter((place) => place >= low && place <= high);
}
