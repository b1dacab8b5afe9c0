// A column of samples: every value, and above them levels of buckets with their extremes, so that a picture of any
// part of a run shows every peak without looking at every value.

/** Values of a bucket of the first level; a bucket of each level above has as many of the level below. */
export const FAN = 8;
/** Levels: a bucket of the last has FAN to this power values. */
export const LEVELS = 7;

/** A growing array of numbers. */
export class Numbers {
  #values = new Float64Array(64);
  length = 0;

  push(value: number): void {
    if (this.length === this.#values.length) {
      const larger = new Float64Array(2 * this.length);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.length] = value;
    this.length += 1;
  }

  at(index: number): number {
    return index >= 0 && index < this.length ? (this.#values[index] as number) : Number.NaN;
  }

  set(index: number, value: number): void {
    this.#values[index] = value;
  }

  /** How many of the rising numbers are at most `bound`. */
  upTo(bound: number): number {
    let [low, high] = [0, this.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#values[middle] as number) <= bound) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The least, the largest and the last value of each bucket; NaN for a bucket without values. */
export interface Level {
  readonly least: Numbers;
  readonly most: Numbers;
  readonly last: Numbers;
}

/** A column, with its levels. */
export class Samples extends Numbers {
  readonly levels: readonly Level[] = Array.from({ length: LEVELS }, () => ({
    least: new Numbers(),
    most: new Numbers(),
    last: new Numbers(),
  }));

  override push(value: number): void {
    let rows = this.length;
    super.push(value);
    for (const { least, most, last } of this.levels) {
      rows = Math.floor(rows / FAN);
      if (rows === last.length) {
        least.push(value);
        most.push(value);
        last.push(value);
        continue;
      }
      // Comparisons with NaN are false: a value takes its place, and it takes no value's place.
      if (!(least.at(rows) <= value) && !Number.isNaN(value)) least.set(rows, value);
      if (!(most.at(rows) >= value) && !Number.isNaN(value)) most.set(rows, value);
      last.set(rows, value);
    }
  }
}

/** Points of a curve in their order. */
export interface Points {
  x: number[];
  y: number[];
}

/**
 * The points that show a column between two times in at most about `most` points: its values or, where these are more, both
 * extremes of each bucket, at the bucket's first and last time. The extreme nearer to the bucket's last value comes last.
 * The values next to the ends are there, too, so that the curve reaches them.
 */
export function pointsOf(time: Numbers, column: Samples, from: number, to: number, most: number): Points {
  const first = Math.max(0, time.upTo(from) - 1);
  const end = Math.min(column.length, time.upTo(to) + 1);
  const points: Points = { x: [], y: [] };
  const put = (x: number, y: number): void => {
    points.x.push(x);
    points.y.push(y);
  };
  if (end - first <= most) {
    for (let row = first; row < end; row += 1) put(time.at(row), column.at(row));
    return points;
  }
  let [level, size] = [0, FAN];
  while (level + 1 < LEVELS && (2 * (end - first)) / size > most) [level, size] = [level + 1, size * FAN];
  const { least, most: largest, last } = column.levels[level] as Level;
  for (let bucket = Math.floor(first / size); bucket * size < end; bucket += 1) {
    const [low, high, final] = [least.at(bucket), largest.at(bucket), last.at(bucket)];
    const isFalling = high - final > final - low;
    put(time.at(bucket * size), isFalling ? high : low);
    put(time.at(Math.min(column.length, (bucket + 1) * size) - 1), isFalling ? low : high);
  }
  return points;
}
