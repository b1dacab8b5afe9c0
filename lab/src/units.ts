// Quantities as texts with units, for sliders. The scenario that runs is read by the engine only.

/** A kind of quantity: its units, smallest first, each with its size in the first. */
export interface Units {
  readonly sizes: Readonly<Record<string, number>>;
}

/** Rates, in bit/s. */
export const RATE: Units = { sizes: { "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "Tbit/s": 1e12 } };
/** Times, in picoseconds. */
export const TIME: Units = { sizes: { ps: 1, ns: 1e3, us: 1e6, ms: 1e9, s: 1e12, min: 60e12, h: 3600e12 } };
/** Sizes, in bytes. */
export const SIZE: Units = {
  sizes: { B: 1, kB: 1e3, KiB: 1024, MB: 1e6, MiB: 2 ** 20, GB: 1e9, GiB: 2 ** 30, TB: 1e12, TiB: 2 ** 40 },
};
/** Shares, in per cent. */
export const SHARE: Units = { sizes: { "%": 1 } };

/** Other names of units that the engine knows; names of rates in upper or lower case. */
const ALSO: Readonly<Record<string, string>> = { "\u00b5s": "us", "\u03bcs": "us", usec: "us", msec: "ms", sec: "s", byte: "B", bytes: "B" };
const RATE_ALSO = /^([kmgt]?)(?:bit\/s|bit|bps|b\/s)$/i;

/** Returns the name of a unit in the table of sizes. */
function unitOf(name: string, units: Units): string {
  const rate = units === RATE ? RATE_ALSO.exec(name) : null;
  if (rate === null) return ALSO[name] ?? name;
  const prefix = (rate[1] ?? "").toLowerCase();
  return `${prefix === "k" ? "k" : prefix.toUpperCase()}bit/s`;
}

/**
 * Reads a quantity.
 *
 * @returns The number in the smallest unit; undefined when it is not one.
 */
export function read(text: string, units: Units): number | undefined {
  const found = /^\s*([0-9.]+(?:e[+-]?[0-9]+)?)\s*(\S+)?\s*$/i.exec(text);
  if (found === null) return undefined;
  const size = found[2] === undefined ? (units === SHARE ? 100 : undefined) : units.sizes[unitOf(found[2], units)];
  const number = Number(found[1]);
  return size === undefined || !Number.isFinite(number) ? undefined : number * size;
}

/** Writes a number, given in the smallest unit, with three digits in the usual unit. */
export function write(value: number, units: Units): string {
  const fits = Object.entries(units.sizes).filter(([unit, size]) => !/i|min|^h$/.test(unit.replace("bit/s", "")) && size <= value);
  const [unit, size] = fits.at(-1) ?? (Object.entries(units.sizes)[0] as [string, number]);
  return `${Number((value / size).toPrecision(3))} ${unit}`;
}

/** Three digits of a number for people; a dash for none. */
export function digits(value: number | null | undefined, places = 3): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  return Math.abs(value) >= 10 ** places ? value.toFixed(0) : String(Number(value.toPrecision(places)));
}
