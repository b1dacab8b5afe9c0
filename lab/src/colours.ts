// Colours of flows and links: Okabe and Ito's, which people who see fewer colours can tell apart too.

import { signal } from "@preact/signals";

const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#e69f00", "#333333"];
const DARK = ["#56b4e9", "#ff8c42", "#2fd0a0", "#e8a0c8", "#f0e442", "#8fc8f8", "#e69f00", "#dddddd"];

const query = matchMedia("(prefers-color-scheme: dark)");
/** Whether the page is dark. */
export const dark = signal(query.matches);
query.addEventListener("change", () => (dark.value = query.matches));

/** The colour of the flow or link with this number. */
export function colour(index: number): string {
  const colours = dark.value ? DARK : LIGHT;
  return colours[index % colours.length] as string;
}

/** The colour of text. */
export const ink = (): string => (dark.value ? "#e6e6e6" : "#1a1a1a");
/** The colour of grids. */
export const grid = (): string => (dark.value ? "#3a3f45" : "#dddddd");
