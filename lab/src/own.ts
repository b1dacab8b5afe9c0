// In the worker: a control that is written in the page becomes a class, without eval.

/** An error at a line in the text of a control. */
export class ControlError extends Error {
  readonly line: number | null;

  constructor(message: string, line: number | null) {
    super(message);
    this.line = line;
  }
}

/**
 * The base that a control may extend, as the built-in controls have it: slow start with HyStart++ (RFC 9406) where the scenario
 * asks for it, timeouts, and the way back from a loss that turned out to be none. On one line, so that the lines of the text
 * after it keep their numbers.
 */
export const BASE = [
  "class Base {",
  "constructor(start) { this.window = this.initialWindow = start.window; this.ssthresh = start.ssthresh;",
  "this.rules = start.rules; this.wholePackets = false; this.countedPackets = 0; this.idleTimeouts = 1;",
  "this.before = this.unlost = [start.window, start.ssthresh]; this.hystart = start.hystart ? new HyStartPlusPlus() : null; }",
  "grow(ack) { if (this.window >= this.ssthresh) return ack.growth; let step = ack.growth;",
  "if (this.before !== this.unlost) this.hystart = null;",
  "if (this.hystart !== null) { if (this.hystart.leavesSlowStart(ack)) { this.leaveSlowStart(); return ack.growth; }",
  "step = this.hystart.step(step); }",
  "const room = this.ssthresh - this.window;",
  "if (step < room) { this.window += step; return 0; } this.window = this.ssthresh; return step - room; }",
  // tcp_cong_avoid_ai of Linux: the count of an earlier, slower growth adds at most one packet.
  "packetsFor(growth, each) { if (!this.wholePackets) return growth / each; if (growth <= 0) return 0;",
  "const kept = this.countedPackets >= each ? 1 : 0; const count = kept > 0 ? growth : this.countedPackets + growth;",
  "const packets = Math.floor(count / each); this.countedPackets = count - packets * each; return kept + packets; }",
  "whole(window) { return this.wholePackets ? Math.floor(window + 1 / 4096) : window; }",
  "leaveSlowStart() { this.hystart = null; this.ssthresh = Math.max(2, this.window); }",
  "cutTo(window) { this.hystart = null; this.countedPackets = 0;",
  "this.window = this.ssthresh = Math.max(2, this.whole(window)); }",
  "fallTo(window) { this.window = Math.max(1, window); this.ssthresh = Math.min(this.ssthresh, Math.max(2, this.window)); }",
  "kept(loss, fraction, afterMark) { return loss.ecn && this.window >= this.ssthresh ? Math.max(fraction, afterMark) : fraction; }",
  "onTimeout(timeout) { if (timeout.first) this.ssthresh = Math.max(2, this.whole(this.window / 2));",
  "this.window = 1; this.countedPackets = 0; }",
  "onUndo() { [this.window, this.ssthresh] = this.before; }",
  "onIdle() { const least = Math.min(this.window, this.initialWindow);",
  "if (this.rules !== 'linux') { this.window = least; return; }",
  "this.ssthresh = Math.max(this.ssthresh, Math.floor(this.window / 2) + Math.floor(this.window / 4));",
  "for (let i = 0; i < this.idleTimeouts && this.window > least; i++) this.window = Math.floor(this.window / 2);",
  "this.window = Math.max(this.window, least); }",
  "onModerated(window) { this.window = Math.max(1, Math.min(this.window, window)); }",
  "}",
  // In picoseconds, as the engine counts, so that it decides as the built-in controls do.
  "class HyStartPlusPlus {",
  "constructor() { this.round = 0; this.samples = 0; this.rounds = 0; this.current = this.last = this.baseline = null; }",
  "leavesSlowStart(ack) {",
  "if (ack.round !== this.round) { this.round = ack.round; this.last = this.current; this.current = null; this.samples = 0;",
  "if (this.baseline !== null) this.rounds += 1; }",
  "if (ack.rtt_s !== null) { const rtt = Math.round(ack.rtt_s * 1e12); this.samples += 1;",
  "this.current = this.current === null ? rtt : Math.min(this.current, rtt); }",
  "if (this.samples >= 8 && this.current !== null && this.last !== null) {",
  "const rise = Math.min(Math.max(Math.floor(this.last / 8), 4e9), 16e9);",
  "if (this.baseline === null) { if (this.current >= this.last + rise) { this.baseline = this.current; this.rounds = 0; } }",
  "else if (this.current < this.baseline) this.baseline = null; }",
  "return this.baseline !== null && this.rounds >= 5; }",
  "step(growth) { return this.baseline === null ? growth : growth / 4; }",
  "}",
].join(" ");

declare function importScripts(...urls: string[]): void;

const scope = globalThis as unknown as { ackclockOwnControl?: unknown };
let address = "";

/**
 * Loads the class `Control` of a text. The text becomes a script of its own, in which lines keep their numbers.
 *
 * @param text JavaScript with a class `Control`.
 * @returns The class.
 * @throws ControlError with the line, when it cannot be read or has no such class.
 */
export async function load(text: string): Promise<object> {
  const script = `globalThis.ackclockOwnControl = (() => { "use strict"; ${BASE} ${text}\nreturn Control; })();`;
  if (address !== "") URL.revokeObjectURL(address);
  address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  delete scope.ackclockOwnControl;
  // The place of a syntax error is reported only if nobody catches the exception.
  await new Promise<void>((resolve, reject) => {
    const failed = (event: ErrorEvent): void => {
      event.preventDefault();
      // Something missing at the end is reported after the last line.
      const line = Math.min(event.lineno, text.split("\n").length);
      reject(new ControlError(event.message.replace(/^Uncaught /, ""), line || null));
    };
    addEventListener("error", failed, { once: true });
    setTimeout(() => {
      setTimeout(() => {
        removeEventListener("error", failed);
        resolve();
      });
      importScripts(address);
    });
  });
  const control = scope.ackclockOwnControl;
  if (typeof control !== "function") throw new ControlError("the text has no class Control", null);
  return control;
}

/**
 * Says where in the text of the control something was thrown.
 *
 * @param error The exception.
 * @returns The same with its line, if it was thrown there.
 */
export function located(error: unknown): ControlError {
  if (!(error instanceof Error)) return new ControlError(String(error), null);
  const place = (error.stack ?? "").split("\n").find((line) => address !== "" && line.includes(address));
  const line = place === undefined ? undefined : /:(\d+):\d+\)?$/.exec(place)?.[1];
  return new ControlError(`${error.name}: ${error.message}`, line === undefined ? null : Number(line));
}
