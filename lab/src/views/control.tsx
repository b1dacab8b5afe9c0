// A control that is written in the page.

import { useSignal, useSignalEffect } from "@preact/signals";
import { EXAMPLES } from "../examples.ts";
import { flows, set, text } from "../scenario.ts";
import * as state from "../state.ts";
import { Editor } from "./editor.tsx";

/** Gives the control to a flow, if no flow has it, and runs. */
function runOwn(source: string): void {
  const all = flows(state.scenario.value);
  if (!all.some((flow) => text(flow, ["controller"]) === "own")) {
    const { params: _, name: __, ...last } = all.at(-1) ?? { controller: "reno" };
    const first = all.length < 2 ? [...all, { ...last, controller: "own" }] : [{ ...last, controller: "own" }, ...all.slice(1)];
    state.scenario.value = set(state.scenario.value, ["flow"], first);
  }
  state.changeControl(source);
}

/** The question before a control out of a link is run. */
export function Asks() {
  if (!state.controlAsks.value) return null;
  return (
    <div role="alertdialog" aria-label="A control out of a link" class="asks">
      <p>
        <strong>This link carries a control written in JavaScript.</strong> It would run in a worker without network and
        without this page. Read it below, then decide.
      </p>
      <pre tabIndex={0} aria-label="the control out of the link">{state.control.value}</pre>
      <button type="button" onClick={() => state.changeControl(state.control.value)}>Run it</button>{" "}
      <button type="button" onClick={() => state.changeControl(null)}>Leave it out</button>
    </div>
  );
}

/** The editor of the control. */
export function Control() {
  const written = useSignal(state.control.value ?? EXAMPLES["AIMD(a, b)"] ?? "");
  // What a link brings stands in the editor, too.
  useSignalEffect(() => {
    if (state.control.value !== null) written.value = state.control.value;
  });
  const wrong = state.problem.value?.place === "control" ? state.problem.value : null;
  return (
    <section aria-labelledby="control">
      <details open={state.control.value !== null}>
        <summary><h2 id="control">Write a control</h2></summary>
        <p>
          A class <code>Control</code> with <code>window</code> and <code>ssthresh</code> in packets, told by{" "}
          <code>onAck</code>, <code>onLoss</code> and <code>onTimeout</code>; it is the control <code>own</code> of flows.
        </p>
        <p class="tools">
          {Object.entries(EXAMPLES).map(([name, example]) => (
            <button key={name} type="button" onClick={() => (written.value = example)}>{name}</button>
          ))}
        </p>
        <Editor label="Control in JavaScript" value={written.value} line={wrong?.line ?? null} onInput={(now) => (written.value = now)} />
        {wrong && <p class="wrong" role="alert">{wrong.line === null ? wrong.text : `line ${wrong.line}: ${wrong.text}`}</p>}
        <p>
          <button type="button" onClick={() => runOwn(written.value)}>Run this control</button>
        </p>
      </details>
    </section>
  );
}
