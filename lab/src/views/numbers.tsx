// The numbers of a run next to its curves, and their difference from the kept run.

import predictions from "../data/predictions.json";
import type { FlowSummary, Summary } from "../messages.ts";
import { flows } from "../scenario.ts";
import { ghost, keep, scenario, status, summary, trace } from "../state.ts";
import type { Sharing } from "../trace.ts";
import { digits } from "../units.ts";

type Number_ = number | null | undefined;

/** A number, and its difference from the number of the kept run. */
function Cell({ now, before, places = 3 }: { now: Number_; before?: Number_; places?: number }) {
  const difference = typeof now === "number" && typeof before === "number" ? now - before : undefined;
  return (
    <td>
      {digits(now, places)}
      {difference !== undefined && (
        <small class="difference">{` ${difference < 0 ? "−" : "+"}${digits(Math.abs(difference), places)}`}</small>
      )}
    </td>
  );
}

const table = predictions as { loss: number[]; packets: Record<string, number[]> };

/** Goodput by the control's response function for the loss events of the flow, Mbit/s. */
function predicted(flow: FlowSummary, packet_bytes: number): number | undefined {
  const formula = table.packets[flow.controller];
  // The tables hold for the controls' default parameters.
  const isChanged = flows(scenario.value).some((one) => one.controller === flow.controller && "params" in one);
  const rtt_s = (flow.mean_rtt_ms ?? 0) / 1e3;
  const p = (flow.loss_events ?? 0) / flow.sent_packets;
  if (!formula || isChanged || !(rtt_s > 0) || !(p > 0)) return undefined;
  const above = table.loss.findIndex((loss) => loss >= p);
  if (above <= 0) return undefined;
  const [p0, p1] = [table.loss[above - 1] as number, table.loss[above] as number];
  const [w0, w1] = [formula[above - 1] as number, formula[above] as number];
  const part = Math.log(p / p0) / Math.log(p1 / p0);
  return ((w0 ** (1 - part) * w1 ** part) / rtt_s) * packet_bytes * 8e-6;
}

/** A flow's share of the arrivals of all flows on its link, per cent. */
function share(index: number, all: Summary, groups: readonly Sharing[]): number | undefined {
  const flows = groups.find((group) => group.flows.includes(index))?.flows ?? [index];
  const sum = flows.reduce((total, one) => total + (all.flows[one]?.goodput_mbps ?? 0), 0);
  const own = all.flows[index]?.goodput_mbps;
  return own === null || own === undefined || sum === 0 ? undefined : (100 * own) / sum;
}

/** Jain's index of the goodputs of flows; undefined when there are none. */
function jain(flows: readonly number[], all: Summary): number | undefined {
  const rates = flows.flatMap((flow) => all.flows[flow]?.goodput_mbps ?? []);
  const [sum, squares] = rates.reduce(([total, square], rate) => [total + rate, square + rate * rate], [0, 0]);
  return squares > 0 ? (sum * sum) / (rates.length * squares) : undefined;
}

const lost = (flow: FlowSummary): number | undefined =>
  flow.sent_packets > 0 ? (100 * flow.dropped_packets) / flow.sent_packets : undefined;

type Head = readonly [string, string];
const HEADS: readonly Head[] = [
  ["flow", ""],
  ["goodput", "Mbit/s"],
  ["share", "%"],
  ["formula", "Mbit/s"],
  ["loss", "%"],
  ["loss events", ""],
  ["timeouts", ""],
  ["RTT p50", "ms"],
  ["RTT p95", "ms"],
  ["window", "packets"],
];
/** Columns of runs with datagrams, which have one-way delays and no round trips. */
const DELAYS: readonly Head[] = [
  ["delay p50", "ms"],
  ["delay p95", "ms"],
];

const MOST_ROWS = 50;

interface Shown {
  all: Summary;
  groups: readonly Sharing[];
  before: Summary | undefined;
  groupsBefore: readonly Sharing[];
}

function FlowTable({ all, groups, before, groupsBefore }: Shown) {
  const hasDelays = all.flows.some((flow) => flow.delay_p50_ms !== null);
  // A flow whose control has changed has another name, as a rule, and the same place.
  const placeBefore = (flow: FlowSummary, index: number): number => {
    const place = before?.flows.findIndex((one) => one.name === flow.name) ?? -1;
    return place < 0 ? index : place;
  };
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Numbers per flow">
      <table>
        <thead>
          <tr>
            {[...HEADS, ...(hasDelays ? DELAYS : [])].map(([head, unit]) => (
              <th key={head} scope="col">{head}{unit && <small> {unit}</small>}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {all.flows.slice(0, MOST_ROWS).map((flow, index) => {
            const place = placeBefore(flow, index);
            const old = before?.flows[place];
            return (
              <tr key={flow.name}>
                <th scope="row">{flow.name}</th>
                <Cell now={flow.goodput_mbps} before={old?.goodput_mbps} />
                <Cell now={share(index, all, groups)} before={before && share(place, before, groupsBefore)} />
                <Cell now={predicted(flow, trace.value?.outline.flows[index]?.packet_bytes ?? 0)} />
                <Cell now={lost(flow)} before={old && lost(old)} />
                <Cell now={flow.loss_events} before={old?.loss_events} places={6} />
                <Cell now={flow.timeouts} before={old?.timeouts} places={6} />
                <Cell now={flow.rtt_p50_ms} before={old?.rtt_p50_ms} />
                <Cell now={flow.rtt_p95_ms} before={old?.rtt_p95_ms} />
                <Cell now={flow.mean_window} before={old?.mean_window} />
                {hasDelays && <Cell now={flow.delay_p50_ms} before={old?.delay_p50_ms} />}
                {hasDelays && <Cell now={flow.delay_p95_ms} before={old?.delay_p95_ms} />}
              </tr>
            );
          })}
        </tbody>
      </table>
      {all.flows.length > MOST_ROWS && <p class="hint">{`and ${all.flows.length - MOST_ROWS} more flows`}</p>}
    </div>
  );
}

function LinkTable({ all, before }: { all: Summary; before: Summary | undefined }) {
  const percent = (value: number | null | undefined): Number_ => (value === null || value === undefined ? value : 100 * value);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Numbers per link">
      <table>
        <thead>
          <tr>
            <th scope="col">link</th>
            <th scope="col">utilisation <small>%</small></th>
            <th scope="col">dropped</th>
            <th scope="col">marked</th>
            <th scope="col">lost at random</th>
            <th scope="col">mean queue <small>packets</small></th>
            <th scope="col">longest <small>packets</small></th>
          </tr>
        </thead>
        <tbody>
          {all.links.map((link) => {
            const old = before?.links.find((one) => one.id === link.id);
            return (
              <tr key={link.id}>
                <th scope="row">{link.id}</th>
                <Cell now={percent(link.utilisation)} before={percent(old?.utilisation)} />
                <Cell now={link.queue_drops} before={old?.queue_drops} places={6} />
                <Cell now={link.marks} before={old?.marks} places={6} />
                <Cell now={link.random_losses} before={old?.random_losses} places={6} />
                <Cell now={link.mean_queue_packets} before={old?.mean_queue_packets} />
                <Cell now={link.max_queue_packets} before={old?.max_queue_packets} places={6} />
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** All numbers. */
export function Numbers() {
  const all = summary.value;
  const before = ghost.value?.summary;
  const groups = trace.value?.sharings ?? [];
  const groupsBefore = ghost.value?.trace.sharings ?? [];
  return (
    <section aria-labelledby="numbers">
      <h2 id="numbers">Numbers</h2>
      <p>
        <button type="button" onClick={keep} disabled={!all}>{before ? "Keep this run instead" : "Keep this run to compare"}</button>{" "}
        {before && <button type="button" onClick={() => (ghost.value = null)}>Forget the kept run</button>}
      </p>
      {all ? (
        <>
          {all.warnings.map((warning) => <p key={warning} class="hint" role="note">{`Warning: ${warning}.`}</p>)}
          {all.notes.map((note) => <p key={note} class="hint" role="note">{`${note}.`}</p>)}
          <FlowTable all={all} groups={groups} before={before} groupsBefore={groupsBefore} />
          <LinkTable all={all} before={before} />
          <p class="hint">
            {"Jain's index"}
            {groups.map(({ link, flows }, index) => {
              const old = before && jain(groupsBefore.find((one) => one.link === link)?.flows ?? [], before);
              return (
                <span key={link}>
                  {groups.length > 1 ? `${index > 0 ? "," : ""} of ${link} ` : " "}
                  <strong data-number={index === 0 ? "jain" : undefined}>{digits(jain(flows, all), 4)}</strong>
                  {before && ` (before: ${digits(old, 4)})`}
                </span>
              );
            })}
            {`; measured from ${all.measured_from_s} s to ${all.duration_s} s; ${all.packets_simulated} packets; digest `}
            <code data-number="digest">{all.digest}</code>
            {". The formula is the control's response function at its loss events and its mean RTT."}
          </p>
        </>
      ) : (
        <p class="hint">{status.value === "running" ? "The numbers appear when the run has ended." : "There is no run."}</p>
      )}
    </section>
  );
}
