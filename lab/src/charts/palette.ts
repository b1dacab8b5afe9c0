// Colours of curves: Okabe and Ito's, which people who see fewer colours can tell apart too.

const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#e69f00", "#333333"];
const DARK = ["#56b4e9", "#ff8c42", "#2fd0a0", "#e8a0c8", "#f0e442", "#8fc8f8", "#e69f00", "#dddddd"];

/** The colour of the curve with this number, from 0. */
export function curveColour(index: number, isDark: boolean): string {
  const colours = isDark ? DARK : LIGHT;
  return colours[index % colours.length] as string;
}

/** The colour of text. */
export const inkColour = (isDark: boolean): string => (isDark ? "#e6e6e6" : "#1a1a1a");
/** The colour of grids. */
export const gridColour = (isDark: boolean): string => (isDark ? "#3a3f45" : "#dddddd");
/** The grey of what a paper states. */
export const paperColour = (isDark: boolean): string => (isDark ? "#aaaaaa" : "#777777");
