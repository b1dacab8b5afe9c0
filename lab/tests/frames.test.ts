// Plots take turns when frames come late. The clock here is the test's own.

import assert from "node:assert/strict";
import { test } from "node:test";

type Frame = (now: number) => void;
let asked: Frame[] = [];
Object.assign(globalThis, { requestAnimationFrame: (frame: Frame) => asked.push(frame) });
const { draws, drawsNot } = await import("../src/frames.ts");

/** Shows one picture. */
function picture(now: number): void {
  const frames = asked;
  asked = [];
  for (const frame of frames) frame(now);
}

/** Asks for six plots and gives how many each picture draws, when pictures are `apart_ms` apart. */
function perPicture(apart_ms: number): number[] {
  const owners = Array.from({ length: 6 }, () => ({}));
  let drawn = 0;
  for (const owner of owners) draws(owner, () => (drawn += 1));
  const counts: number[] = [];
  for (let now = 0; asked.length > 0; now += apart_ms) {
    const before = drawn;
    picture(now);
    counts.push(drawn - before);
  }
  assert.equal(drawn, owners.length);
  return counts;
}

test("late pictures draw fewer plots each, and all plots are drawn", () => {
  for (let turn = 0; turn < 10; turn += 1) perPicture(16);
  assert.equal(perPicture(16)[0], 6);
  for (let turn = 0; turn < 10; turn += 1) perPicture(100);
  assert.deepEqual(perPicture(100).slice(0, 6), [1, 1, 1, 1, 1, 1]);
});

test("of two drawings of one plot the newer is made, and none that was taken back", () => {
  const [owner, gone] = [{}, {}];
  const drawn: string[] = [];
  draws(owner, () => drawn.push("old"));
  draws(owner, () => drawn.push("new"));
  draws(gone, () => drawn.push("gone"));
  drawsNot(gone);
  for (let now = 0; asked.length > 0; now += 16) picture(now);
  assert.deepEqual(drawn, ["new"]);
});
