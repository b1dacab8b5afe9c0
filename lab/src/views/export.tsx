// A plot's pictures to download.

import type { Panel } from "../panels.ts";
import { trace, zoom } from "../state.ts";
import { save, svg } from "../take.ts";

/** Buttons that save a plot as SVG and PNG. */
export function Export({ panel, canvas }: { panel: Panel; canvas: () => HTMLCanvasElement | null }) {
  const range = (): readonly [number, number] => zoom.value ?? [0, trace.value?.outline.duration_s ?? 1];
  const vector = (): void => save(`${panel.key}.svg`, new Blob([svg(panel, ...range())], { type: "image/svg+xml" }));
  const pixels = (): void => canvas()?.toBlob((blob) => blob && save(`${panel.key}.png`, blob));
  return (
    <span class="tools">
      <button type="button" onClick={vector} aria-label={`${panel.title} as SVG`}>SVG</button>{" "}
      <button type="button" onClick={pixels} aria-label={`${panel.title} as PNG`}>PNG</button>
    </span>
  );
}
