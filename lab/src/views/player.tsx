// The view of a run: names to hide and show, replay, zoom.

import { useEffect } from "preact/hooks";
import { colour } from "../colours.ts";
import * as state from "../state.ts";
import { at } from "../trace.ts";
import { digits } from "../units.ts";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10] as const;

/** The end of the visible run. */
const end = (): number => state.trace.value?.now_s ?? 0;

/** Plays, or pauses. */
export function play(): void {
  if (state.playing.value) {
    state.playing.value = false;
    return;
  }
  const place = state.replay_s.value;
  if (place === null || place >= end()) state.replay_s.value = 0;
  state.playing.value = true;
}

/** Moves forward by one round trip of the first flow, as it is at that time. */
export function step(back = false): void {
  state.playing.value = false;
  const seen = state.trace.value;
  const first = seen?.flows[0];
  const now = state.replay_s.value ?? (back ? end() : 0);
  const rtt_ms = (first && at(first, "rtt_ms", now)) || 100;
  state.replay_s.value = Math.min(end(), Math.max(0, now + ((back ? -1 : 1) * rtt_ms) / 1e3));
}

/** Zooms in or out around the middle. */
export function magnify(by: number): void {
  const whole = state.trace.value?.outline.duration_s ?? 1;
  const [from, to] = state.zoom.value ?? [0, whole];
  const [middle, half] = [(from + to) / 2, ((to - from) / 2) * by];
  const next: [number, number] = [Math.max(0, middle - half), Math.min(whole, middle + half)];
  state.zoom.value = next[0] <= 0 && next[1] >= whole ? null : next;
}

/** The names of the flows, and their values at the pointer. */
export function Legend() {
  const seen = state.trace.value;
  if (!seen) return null;
  const time = state.hover_s.value;
  const queue = seen.links[0] && at(seen.links[0], "max_packets", time ?? state.shown_s.value);
  return (
    <div class="legend" role="group" aria-label="Flows that are shown">
      <span class="time">{time === null ? `${digits(state.shown_s.value, 4)} s` : `at ${digits(time, 4)} s`}{`, queue ${digits(queue)}`}</span>
      {seen.flows.map((flow, index) => {
        const name = seen.outline.flows[index]?.name ?? "";
        const now = time ?? state.shown_s.value;
        const isShown = !state.hidden.value.has(name);
        return (
          <button key={name} type="button" aria-pressed={isShown} onClick={() => state.toggle(name)}>
            <span class="key" style={{ background: colour(index) }} />
            {name}
            <small>{` ${digits(at(flow, "window", now))} packets, ${digits(at(flow, "rate_mbps", now))} Mbit/s, ${digits(at(flow, "rtt_ms", now) || at(flow, "one_way_delay_ms", now))} ms`}</small>
          </button>
        );
      })}
      {seen.outline.flows.length > seen.flows.length && (
        <span>{`${seen.flows.length} of ${seen.outline.flows.length} flows are drawn`}</span>
      )}
    </div>
  );
}

/** Replay and zoom. */
export function Player() {
  useEffect(() => {
    if (!state.playing.value) return undefined;
    let frame = 0;
    let last = performance.now();
    const tick = (now: number): void => {
      // The effect is undone after the next paint, and a frame may come before that.
      if (!state.playing.value) return;
      const next = (state.replay_s.value ?? 0) + ((now - last) / 1e3) * state.speed.value;
      last = now;
      state.replay_s.value = Math.min(next, end());
      if (next >= end() && state.status.value !== "running") state.playing.value = false;
      else frame = requestAnimationFrame(tick);
    };
    frame = requestAnimationFrame(tick);
    return () => cancelAnimationFrame(frame);
  }, [state.playing.value]);

  const whole = state.trace.value?.outline.duration_s ?? 1;
  return (
    <div class="player" role="group" aria-label="Replay and zoom">
      <button type="button" onClick={play} aria-keyshortcuts="p">{state.playing.value ? "Pause" : "Play"}</button>
      <button type="button" onClick={() => step(true)} aria-keyshortcuts="," aria-label="−1 RTT: back by a round trip">−1 RTT</button>
      <button type="button" onClick={() => step()} aria-keyshortcuts="." aria-label="+1 RTT: forward by a round trip">+1 RTT</button>
      <label>
        speed{" "}
        <select value={state.speed.value} onChange={(event) => (state.speed.value = Number(event.currentTarget.value))}>
          {SPEEDS.map((one) => (
            <option key={one} value={one}>{`${one}×`}</option>
          ))}
        </select>
      </label>
      <input
        type="range"
        class="time"
        min={0}
        max={whole}
        step={whole / 1000}
        value={state.shown_s.value}
        aria-label="time of the replay"
        aria-valuetext={`${digits(state.shown_s.value)} s`}
        onInput={(event) => (state.replay_s.value = event.currentTarget.valueAsNumber)}
      />
      <button type="button" disabled={state.replay_s.value === null} onClick={() => { state.playing.value = false; state.replay_s.value = null; }}>End</button>
      <button type="button" onClick={() => magnify(0.5)}>Zoom in</button>
      <button type="button" onClick={() => magnify(2)}>Zoom out</button>
      <button type="button" disabled={state.zoom.value === null} onClick={() => (state.zoom.value = null)}>Whole run</button>
    </div>
  );
}
