// Scenarios to begin with: well-known paths, and the figures of papers.

import { useSignal } from "@preact/signals";
import paths from "../data/paths.json";
import papers from "../data/papers.json";
import type { JsonObject } from "../messages.ts";
import * as state from "../state.ts";

/** A scenario with its description. */
interface Preset {
  name: string;
  about: string;
  /** Values with their sources, or claims with what the paper says. */
  facts: string[];
  verdict?: string;
  /** Scenarios by label. */
  cases: Record<string, JsonObject>;
  files?: Record<string, string>;
}

const GROUPS: Record<string, Preset[]> = {
  "Well-known paths": paths as unknown as Preset[],
  ...(papers as unknown as Record<string, Preset[]>),
};

function begin(group: string, preset: Preset, label = Object.keys(preset.cases)[0] ?? ""): void {
  const scenario = preset.cases[label];
  if (!scenario) return;
  state.files.value = preset.files ?? {};
  state.preset.value = { group, name: preset.name, label };
  state.change(scenario);
}

/** The choice of a preset, and the description of the chosen one. */
export function Presets() {
  const group = useSignal(Object.keys(GROUPS)[0] ?? "");
  const now = state.preset.value;
  const chosen = now ? GROUPS[now.group]?.find((one) => one.name === now.name) : undefined;
  const labels = Object.keys(chosen?.cases ?? {});
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
          value={now?.group === group.value ? now.name : ""}
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
      {now && chosen && labels.length > 1 && (
        <div class="row">
          <select aria-label="case" value={now.label} onChange={(event) => begin(now.group, chosen, event.currentTarget.value)}>
            {labels.map((label) => (
              <option key={label} value={label}>{label}</option>
            ))}
          </select>
        </div>
      )}
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
