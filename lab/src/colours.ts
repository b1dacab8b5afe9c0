// Colours of flows and links, and whether the page is dark.

import { signal } from "@preact/signals";
import { curveColour, gridColour, inkColour } from "./charts/palette.ts";

/** Absent without a page, as in tests of drawings. */
const query = globalThis.matchMedia?.("(prefers-color-scheme: dark)");
/** Whether the page is dark. */
export const dark = signal(query?.matches ?? false);
query?.addEventListener("change", () => (dark.value = query.matches));

/** The colour of the flow or link with this number. */
export const colour = (index: number): string => curveColour(index, dark.value);
/** The colour of text. */
export const ink = (): string => inkColour(dark.value);
/** The colour of grids. */
export const grid = (): string => gridColour(dark.value);
