// Fields made from the schema: a key of the scenario, its input element, and its meaning.

import type { ComponentChildren } from "preact";
import type { Json, JsonObject } from "../messages.ts";
import { get, isTable, set, text, type Path } from "../scenario.ts";
import { catalogue, change, scenario } from "../state.ts";
import { RATE, SHARE, SIZE, TIME, read, write, type Units } from "../units.ts";

const STEPS = 1000;
/** The ranges of sliders, in the smallest unit. */
const REACH: readonly [Units, number, number][] = [
  [RATE, 1e5, 1e10],
  [TIME, 1e8, 1e15],
  [SIZE, 100, 1e9],
  [SHARE, 1e-4, 20],
];

/** Sets a key of the scenario and runs it; an empty text removes the key. */
export function enter(path: Path, value: Json): void {
  change(set(scenario.value, path, value === "" ? undefined : value));
}

/** The schema of the key at a path. */
export function schemaOf(path: Path): JsonObject {
  let found: Json | undefined = catalogue.value?.schema;
  for (const key of path) {
    found = typeof key === "number" ? get(found, ["items"]) : get(found, ["properties", key]);
  }
  return isTable(found) ? found : {};
}

/** A slider with a logarithmic scale. */
export function Slider(props: { label: string; low: number; high: number; value: number; onMove: (value: number) => void; says: string }) {
  const [low, high] = [Math.log(props.low), Math.log(props.high)];
  const place = ((Math.log(Math.max(props.value, props.low)) - low) / (high - low)) * STEPS;
  return (
    <input
      type="range"
      min={0}
      max={STEPS}
      value={Math.round(place)}
      aria-label={`${props.label}, slider`}
      aria-valuetext={props.says}
      onInput={(event) => props.onMove(Math.exp(low + (Number(event.currentTarget.value) / STEPS) * (high - low)))}
    />
  );
}

/** A label with its field. */
export function Row({ label, title, children }: { label: string; title?: string; children: ComponentChildren }) {
  return (
    <div class="row" title={title}>
      {/* The label names the field by aria-label too: the field is next to a slider. */}
      <span class="label" aria-hidden="true">{label}</span>
      <span class="inputs">{children}</span>
    </div>
  );
}

function typed(words: string, schema: JsonObject): Json {
  const isNumber = schema.type === "number" || schema.type === "integer" || Array.isArray(schema.anyOf);
  const number = Number(words);
  if (isNumber && words.trim() !== "" && Number.isFinite(number)) return number;
  // A moment may be a table, as in { uniform = ["0 s", "20 s"] }, which the editor has.
  return words;
}

/** A field for one key. */
export function Field({ path, label, placeholder = "" }: { path: Path; label?: string; placeholder?: string }) {
  const schema = schemaOf(path);
  const value = get(scenario.value, path);
  const name = label ?? String(path.at(-1));
  const title = typeof schema.description === "string" ? schema.description : "";
  if (Array.isArray(schema.enum)) {
    return (
      <Row label={name} title={title}>
        <select aria-label={name} value={text(scenario.value, path)} onChange={(event) => enter(path, event.currentTarget.value)}>
          <option value="">(default)</option>
          {schema.enum.map((word) => (
            <option key={String(word)} value={String(word)}>{String(word)}</option>
          ))}
        </select>
      </Row>
    );
  }
  if (schema.type === "boolean") {
    return (
      <Row label={name} title={title}>
        <input type="checkbox" aria-label={name} checked={value === true} onChange={(event) => enter(path, event.currentTarget.checked || "")} />
      </Row>
    );
  }
  if (typeof value === "object") {
    return <Row label={name} title={title}><code>{JSON.stringify(value)}</code></Row>;
  }
  const words = text(scenario.value, path);
  const reach = REACH.find(([units]) => words !== "" && typeof value === "string" && read(words, units) !== undefined);
  const number = reach && read(words, reach[0]);
  return (
    <Row label={name} title={title}>
      {reach && number !== undefined && number > 0 && (
        <Slider
          label={name}
          low={reach[1]}
          high={reach[2]}
          value={number}
          says={words}
          onMove={(to) => enter(path, write(to, reach[0]))}
        />
      )}
      <input
        type="text"
        class="exact"
        aria-label={name}
        value={words}
        placeholder={placeholder}
        onChange={(event) => enter(path, typed(event.currentTarget.value, schema))}
      />
    </Row>
  );
}

/** Fields for all keys of a table that have a single value, except those shown elsewhere. */
export function AllKeys({ path, but = [], title }: { path: Path; but?: string[]; title: string }) {
  const properties = schemaOf(path).properties;
  const keys = isTable(properties) ? Object.keys(properties) : [];
  const single = keys.filter((key) => !but.includes(key) && !["object", "array"].includes(String(schemaOf([...path, key]).type)));
  if (single.length === 0) return null;
  return (
    <details>
      <summary>{title}</summary>
      {single.map((key) => (
        <Field key={key} path={[...path, key]} placeholder={defaultOf([...path, key])} />
      ))}
    </details>
  );
}

function defaultOf(path: Path): string {
  const description = schemaOf(path).description;
  return typeof description === "string" ? (description.split("; without it: ").at(-1) ?? "") : "";
}
