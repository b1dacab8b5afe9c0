// Single keys, outside text fields.

import { addFlow } from "./views/flows.tsx";
import { magnify, play, step } from "./views/player.tsx";

const KEYS: Record<string, () => void> = {
  a: addFlow,
  p: play,
  ".": () => step(),
  ",": () => step(true),
  "+": () => magnify(0.5),
  "-": () => magnify(2),
};

/** Listens for the keys of the page. */
export function listen(): void {
  addEventListener("keydown", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    if (event.ctrlKey || event.metaKey || event.altKey || target?.closest("input:not([type=range], [type=checkbox]), select, textarea")) return;
    const act = KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}
