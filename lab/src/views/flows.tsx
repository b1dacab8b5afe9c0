// The flows: control, its parameters, round trip, start and stop.

import type { Json, JsonObject, Parameter } from "../messages.ts";
import { flows, get, isTable, set, text } from "../scenario.ts";
import { change, controls, explain, scenario } from "../state.ts";
import { digits } from "../units.ts";
import { AllKeys, Field, Row, Slider, enter } from "./fields.tsx";

const MOST_DECADES = 4;

/** Adds a flow like the last one. */
export function addFlow(): void {
  const all = flows(scenario.value);
  const last: JsonObject = all.at(-1) ?? { controller: "reno" };
  const { name: _, ...rest } = last;
  change(set(scenario.value, ["flow"], [...all, rest]));
}

function remove(index: number): void {
  change(set(scenario.value, ["flow"], flows(scenario.value).filter((_, other) => other !== index)));
}

/** The range of a parameter's slider: its domain, or a few decades around its default. */
function reach(parameter: Parameter): [number, number] | undefined {
  const { minimum, maximum, default: usual } = parameter;
  if (minimum === null || maximum === null || typeof usual !== "number" || usual <= 0) return undefined;
  const far = 10 ** (MOST_DECADES / 2);
  const low = Math.max(minimum, usual / far);
  const high = Math.min(maximum, usual * far);
  return low < high ? [low, high] : undefined;
}

function ParameterField({ index, parameter }: { index: number; parameter: Parameter }) {
  const { name, meaning, choices } = parameter;
  const path = ["flow", index, "params", name];
  const value = get(scenario.value, path) ?? parameter.default;
  const put = (to: Json): void => {
    const changed = set(scenario.value, path, to === parameter.default ? undefined : to);
    const params = get(changed, ["flow", index, "params"]);
    const isEmpty = isTable(params) && Object.keys(params).length === 0;
    change(isEmpty ? set(changed, ["flow", index, "params"], undefined) : changed);
  };
  if (choices) {
    const pick = (word: string): void => put(choices.find((one) => String(one) === word) ?? word);
    return (
      <Row label={name} title={meaning}>
        <select aria-label={name} value={String(value)} onChange={(event) => pick(event.currentTarget.value)}>
          {choices.map((one) => (
            <option key={String(one)} value={String(one)}>{String(one)}</option>
          ))}
        </select>
      </Row>
    );
  }
  const ends = reach(parameter);
  const number = Number(value);
  return (
    <Row label={name} title={meaning}>
      {ends && <Slider label={name} low={ends[0]} high={ends[1]} value={number} says={digits(number)} onMove={(to) => put(Number(to.toPrecision(3)))} />}
      <input
        type="number"
        class="exact"
        step="any"
        aria-label={name}
        value={number}
        onChange={(event) => put(event.currentTarget.value === "" ? parameter.default : event.currentTarget.valueAsNumber)}
      />
    </Row>
  );
}

function Flow({ index, flow }: { index: number; flow: JsonObject }) {
  const name = text(flow, ["controller"]);
  const known = controls.value.find((one) => one.name === name);
  const source = text(flow, ["source"]);
  const label = text(flow, ["name"]) || `${name || source} ${index + 1}`;
  const pick = (to: string): void => {
    const { params: _, ...rest } = flow;
    enter(["flow", index], { ...rest, controller: to });
  };
  return (
    <fieldset class="flow">
      <legend>{label}</legend>
      {source === "" ? (
        <Row label="control" title={known?.source ?? ""}>
          <select aria-label="control" value={name} onChange={(event) => pick(event.currentTarget.value)}>
            {known === undefined && <option value={name}>{name}</option>}
            {controls.value.map((one) => (
              <option key={one.name} value={one.name}>{one.name}</option>
            ))}
          </select>
          <button type="button" onClick={() => explain(name)} aria-label={`explain ${name}`}>?</button>
          <button type="button" onClick={() => remove(index)} aria-label={`remove ${label}`}>✕</button>
        </Row>
      ) : (
        <Row label="source">
          {source}
          <button type="button" onClick={() => remove(index)} aria-label={`remove ${label}`}>✕</button>
        </Row>
      )}
      <Field path={["flow", index, "rtt"]} placeholder="the links' delays" />
      <Field path={["flow", index, "start"]} placeholder="0 s" />
      <Field path={["flow", index, "stop"]} placeholder="the end of the run" />
      {known && known.parameters.length > 0 && (
        <details>
          <summary>{`Parameters of ${name}`}</summary>
          {known.parameters.map((one) => (
            <ParameterField key={one.name} index={index} parameter={one} />
          ))}
        </details>
      )}
      <AllKeys path={["flow", index]} but={["controller", "rtt", "start", "stop", "params"]} title="All keys of the flow" />
    </fieldset>
  );
}

/** The form of all flows. */
export function Flows() {
  return (
    <section aria-labelledby="flows">
      <h2 id="flows">Flows</h2>
      {flows(scenario.value).map((flow, index) => (
        <Flow key={index} index={index} flow={flow} />
      ))}
      <button type="button" onClick={addFlow} aria-keyshortcuts="a">Add a flow (a)</button>
    </section>
  );
}
