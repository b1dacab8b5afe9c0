// The path: rate, delay, buffer, discipline, losses, noise, ECN and steps.

import { useSignal } from "@preact/signals";
import type { JsonObject } from "../messages.ts";
import { bottleneck, flows, get, isTable, set, text, type Path as Place } from "../scenario.ts";
import { change, scenario } from "../state.ts";
import { RATE, SIZE, TIME, read } from "../units.ts";
import { AllKeys, Field, Row, Slider, enter, schemaOf } from "./fields.tsx";

/** The required keys of a kind of loss or noise. */
const NEEDS: Record<string, JsonObject> = {
  bernoulli: { rate: "0.1 %" },
  periodic: { every: 1000 },
  gilbert_elliott: { to_bad: "0.1 %", to_good: "20 %" },
  trace: { file: "" },
  uniform: { range: "2 ms" },
  gaussian: { sigma: "1 ms" },
};

/** A table with a kind: another kind begins with its required keys. */
function Kind({ place, label, kinds, none }: { place: Place; label: string; kinds: string[]; none: string }) {
  const kind = text(scenario.value, [...place, "kind"]) || none;
  const pick = (to: string): void => enter(place, to === none ? "" : { kind: to, ...NEEDS[to] });
  return (
    <>
      <Row label={label}>
        <select aria-label={label} value={kind} onChange={(event) => pick(event.currentTarget.value)}>
          {[none, ...kinds].map((word) => (
            <option key={word} value={word}>{word}</option>
          ))}
        </select>
      </Row>
      {kind !== none &&
        Object.keys(get(scenario.value, place) ?? {})
          .filter((key) => key !== "kind")
          .map((key) => <Field key={key} path={[...place, key]} label={`${label}: ${key}`} />)}
    </>
  );
}

const UNITS = ["packets", "ms", "BDP"] as const;

/** The buffer, in packets, milliseconds of the link's rate, or products of rate and the longest round trip. */
function Buffer({ place }: { place: Place }) {
  const unit = useSignal<(typeof UNITS)[number]>("packets");
  const written = text(scenario.value, [...place, "queue", "limit"]);
  const packet = read(text(scenario.value, ["tcp", "packet"]) || "1000 B", SIZE) ?? 1000;
  const rate = read(text(scenario.value, [...place, "rate"]), RATE);
  const trips = flows(scenario.value).map((flow) => read(text(flow, ["rtt"]), TIME) ?? 0);
  const delay = read(text(scenario.value, [...place, "delay"]), TIME) ?? 0;
  const rtt = Math.max(2 * delay, ...trips);
  // Packets in one of each unit.
  const sizes = { packets: 1, ms: (rate ?? 0) / 8e3 / packet, BDP: ((rate ?? 0) * rtt * 1e-12) / 8 / packet };
  const size = sizes[unit.value];
  const [bytes, time] = [read(written, SIZE), read(written, TIME)];
  const number = Number.parseFloat(written);
  const packets =
    bytes !== undefined ? bytes / packet : time !== undefined ? time * 1e-9 * sizes.ms : /bdp\s*$/i.test(written) ? number * sizes.BDP : number;
  const shown = packets / size;
  const put = (number: number): void => {
    if (number > 0 && size > 0) enter([...place, "queue", "limit"], `${Math.max(1, Math.round(number * size))} packets`);
  };
  return (
    <Row label="buffer">
      <Slider label="buffer" low={1} high={1e5} value={packets} says={written} onMove={(to) => enter([...place, "queue", "limit"], `${Math.round(to)} packets`)} />
      <input type="number" class="exact" min="0" step="any" aria-label="buffer" value={Number.isFinite(shown) ? Number(shown.toPrecision(4)) : ""} onChange={(event) => put(event.currentTarget.valueAsNumber)} />
      <select aria-label="unit of the buffer" value={unit.value} onChange={(event) => (unit.value = event.currentTarget.value as (typeof UNITS)[number])}>
        {UNITS.map((one) => (
          <option key={one} value={one} disabled={one !== "packets" && rate === undefined}>{one}</option>
        ))}
      </select>
    </Row>
  );
}

function Queue({ place }: { place: Place }) {
  const queue = get(scenario.value, [...place, "queue"]);
  const words = schemaOf([...place, "queue", "kind"]).enum;
  const kinds = Array.isArray(words) ? words.map(String) : [];
  const pick = (kind: string): void => {
    const limit = text(queue, ["limit"]) || "100 packets";
    const needs: JsonObject = kind === "step" ? { threshold: 20 } : {};
    enter([...place, "queue"], { kind, limit, ...needs });
  };
  return (
    <>
      <Row label="queue">
        <select aria-label="queue" value={text(queue, ["kind"])} onChange={(event) => pick(event.currentTarget.value)}>
          {kinds.map((kind) => (
            <option key={kind} value={kind}>{kind}</option>
          ))}
        </select>
      </Row>
      <Buffer place={place} />
    </>
  );
}

/** ECN of the queue and of all flows together: one without the other marks nothing. */
function Ecn({ place }: { place: Place }) {
  const kind = text(scenario.value, [...place, "queue", "kind"]);
  const always = ["step", "dualpi2"].includes(kind);
  const isOn = get(scenario.value, ["tcp", "ecn"]) === true;
  const put = (to: boolean): void => {
    const marked = kind === "droptail" || always ? scenario.value : set(scenario.value, [...place, "queue", "ecn"], to || undefined);
    change(set(marked, ["tcp", "ecn"], to || undefined));
  };
  return (
    <Row label="ECN" title="packets can be marked, and the queue marks instead of dropping them">
      <input type="checkbox" aria-label="ECN" checked={isOn} disabled={kind === "droptail"} onChange={(event) => put(event.currentTarget.checked)} />
      {kind === "droptail" && <small>a droptail queue marks nothing</small>}
    </Row>
  );
}

/** Changes of the path during the run. */
function Steps({ place }: { place: Place }) {
  const events = Array.isArray(scenario.value.event) ? scenario.value.event : [];
  const add = (): void => {
    const rate = text(scenario.value, [...place, "rate"]) || "10 Mbit/s";
    enter(["event", events.length], { at: "20 s", set: `${place.join(".")}.rate`, to: rate });
  };
  const remove = (index: number): void => {
    const left = events.filter((_, other) => other !== index);
    change(set(scenario.value, ["event"], left.length === 0 ? undefined : left));
  };
  return (
    <fieldset>
      <legend>Steps</legend>
      {events.map((event, index) => (
        <div key={index} class="step">
          {(["at", "set", "to"] as const).map((key) => (
            <label key={key}>
              {key}{" "}
              <input
                type="text"
                class={key === "set" ? "wide" : "short"}
                value={isTable(get(event, [key])) ? JSON.stringify(get(event, [key])) : text(event, [key])}
                onChange={(input) => enter(["event", index, key], input.currentTarget.value)}
              />
            </label>
          ))}
          <button type="button" aria-label={`remove step ${index + 1}`} onClick={() => remove(index)}>✕</button>
        </div>
      ))}
      <button type="button" onClick={add}>Add a step</button>
    </fieldset>
  );
}

/** The form of the path. */
export function Path() {
  const name = bottleneck(scenario.value);
  if (name === undefined) {
    const named = text(scenario.value, ["path"]);
    return (
      <section aria-labelledby="path">
        <h2 id="path">Path</h2>
        <p class="hint">
          {named === ""
            ? "This path consists of separate links; change them in the TOML below."
            : `This is the named path ${named}; docs/named-paths.md has its numbers. Choose another one in the TOML below.`}
        </p>
        <AllKeys path={["run"]} title="Run" />
      </section>
    );
  }
  const place = [name];
  return (
    <section aria-labelledby="path">
      <h2 id="path">Path</h2>
      <Field path={[name, text(scenario.value, [name, "rate_trace"]) ? "rate_trace" : "rate"]} label="rate" />
      <Field path={[name, "delay"]} label="delay, one way" />
      <Queue place={place} />
      <Ecn place={place} />
      <Kind place={[name, "loss"]} label="loss" none="none" kinds={["bernoulli", "periodic", "gilbert_elliott"]} />
      <Kind place={[name, "delay_noise"]} label="noise of the delay" none="none" kinds={["uniform", "gaussian"]} />
      <Field path={["run", "duration"]} label="run" />
      <Steps place={place} />
      <AllKeys path={[name, "queue"]} but={["kind", "limit"]} title="All keys of the queue" />
      <AllKeys path={["run"]} but={["duration"]} title="All keys of the run" />
      <AllKeys path={["tcp"]} title="All keys of senders" />
    </section>
  );
}
