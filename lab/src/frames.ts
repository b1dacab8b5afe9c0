// The schedule of plots over frames. Drawing all plots at once may take longer than a frame, especially
// where no graphics processor helps; then they take turns, and the page keeps answering.

/** A frame that comes later than this is late, milliseconds: one and a half frames of 60 per second. */
const LATE_MS = 25;
/** More plots than there ever are. */
const MOST = 32;

const waiting = new Map<object, () => void>();
let allowed = 1;
let isAsked = false;

function next(): void {
  if (isAsked) return;
  isAsked = true;
  requestAnimationFrame(frame);
}

function frame(now: number): void {
  isAsked = false;
  let left = Math.floor(allowed);
  for (const [owner, draw] of waiting) {
    if (left === 0) break;
    left -= 1;
    waiting.delete(owner);
    draw();
  }
  // One more plot after each frame that was on time, half as many after a late one.
  requestAnimationFrame((after) => {
    allowed = after - now > LATE_MS ? Math.max(1, allowed / 2) : Math.min(MOST, allowed + 1);
  });
  if (waiting.size > 0) next();
}

/**
 * Has something drawn in one of the next pictures, in the order of asking; of two drawings of one owner the newer is made,
 * in the place of the older.
 */
export function draws(owner: object, draw: () => void): void {
  waiting.set(owner, draw);
  next();
}

/** Cancels the request of an owner. */
export function drawsNot(owner: object): void {
  waiting.delete(owner);
}
