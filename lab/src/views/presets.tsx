// Scenarios to begin with: paths that people know, and the figures of papers.

import { useSignal } from "@preact/signals";
import paths from "../data/paths.json";
import papers from "../data/papers.json";
import type { JsonObject } from "../messages.ts";
import * as state from "../state.ts";

/** A scenario with what is known of it. */
interface Preset {
  name: string;
  about: string;
  /** Values with their sources, or claims with what the paper says. */
  facts: string[];
  verdict?: string;
  scenario: JsonObject;
  files?: Record<string, string>;
}

const GROUPS: Record<string, Preset[]> = {
  "Paths that people know": paths as unknown as Preset[],
  ...(papers as unknown as Record<string, Preset[]>),
};

function begin(group: string, preset: Preset): void {
  state.files.value = preset.files ?? {};
  state.preset.value = `${group}|${preset.name}`;
  state.change(preset.scenario);
}

/** The choice of a preset, and what is known of the one that was chosen. */
export function Presets() {
  const group = useSignal(Object.keys(GROUPS)[0] ?? "");
  const [chosenGroup, chosenName] = (state.preset.value ?? "").split("|");
  const chosen = GROUPS[chosenGroup ?? ""]?.find((one) => one.name === chosenName);
  const presets = GROUPS[group.value] ?? [];
  return (
    <section aria-labelledby="presets">
      <h2 id="presets">Begin with</h2>
      <div class="row">
        <select aria-label="presets of" value={group.value} onChange={(event) => (group.value = event.currentTarget.value)}>
          {Object.keys(GROUPS).map((name) => (
            <option key={name} value={name}>{name}</option>
          ))}
        </select>
      </div>
      <div class="row">
        <select
          aria-label="preset"
          value={chosenGroup === group.value ? chosenName : ""}
          onChange={(event) => {
            const preset = presets.find((one) => one.name === event.currentTarget.value);
            if (preset) begin(group.value, preset);
          }}
        >
          <option value="">choose …</option>
          {presets.map((one) => (
            <option key={one.name} value={one.name}>{one.name}</option>
          ))}
        </select>
      </div>
      {chosen && (
        <div class="about">
          <p>
            {chosen.about}
            {chosen.verdict && <> Our verdict: <strong>{chosen.verdict}</strong>.</>}
          </p>
          <ul>
            {chosen.facts.map((fact) => (
              <li key={fact}>{fact}</li>
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}
