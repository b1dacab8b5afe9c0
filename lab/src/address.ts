// The address of the page carries the scenario, and changes with it.

import { effect } from "@preact/signals";
import { pack, unpack } from "./link.ts";
import * as state from "./state.ts";

const QUIET_MS = 300;

/** Begins with the scenario of the address. */
export async function open(): Promise<void> {
  try {
    const carried = await unpack(location.hash);
    if (carried) {
      state.scenario.value = carried.scenario;
      state.files.value = carried.files;
      state.control.value = carried.control;
      state.controlAsks.value = carried.control !== null;
    }
    // A control from a link runs only after the reader agrees.
    if (!state.controlAsks.value) state.run();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    state.run();
    state.broken(`This link cannot be read: ${reason}. The page begins with its own example.`);
  }
}

/** From now on the address follows the scenario, and a changed address is opened. */
export function follow(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let own = location.hash;
  effect(() => {
    const carried = { scenario: state.scenario.value, control: state.control.value, files: state.files.value };
    if (state.status.value !== "done") return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      void pack(carried).then((fragment) => {
        own = fragment;
        history.replaceState(null, "", fragment);
      });
    }, QUIET_MS);
  });
  addEventListener("hashchange", () => {
    if (location.hash !== own) void open();
  });
}
