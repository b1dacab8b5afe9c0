// A control that is written in the page.

import { useSignal, useSignalEffect } from "@preact/signals";
import { EXAMPLES } from "../examples.ts";
import { flows, set, text } from "../scenario.ts";
import * as state from "../state.ts";
import { Editor } from "./editor.tsx";

/** Assigns the control to a flow, if no flow has it, and runs. */
function runOwn(source: string): void {
  const all = flows(state.scenario.value);
  if (!all.some((flow) => text(flow, ["controller"]) === "own")) {
    const { params: _, name: __, ...last } = all.at(-1) ?? { controller: "reno" };
    const first = all.length < 2 ? [...all, { ...last, controller: "own" }] : [{ ...last, controller: "own" }, ...all.slice(1)];
    state.scenario.value = set(state.scenario.value, ["flow"], first);
  }
  state.changeControl(source);
}

/** The question before a control from a link runs. */
export function Asks() {
  if (!state.controlAsks.value) return null;
  return (
    <div role="alertdialog" aria-label="A control from a link" class="asks">
      <p>
        <strong>This link carries a control written in JavaScript.</strong> It would run in a worker without access to the network or
        to this page. Read it below, then decide.
      </p>
      <pre tabIndex={0} aria-label="the control from the link">{state.control.value}</pre>
      <button type="button" onClick={() => state.changeControl(state.control.value)}>Run it</button>{" "}
      <button type="button" onClick={() => state.changeControl(null)}>Leave it out</button>
    </div>
  );
}

/** The editor of the control. */
export function Control() {
  const written = useSignal(state.control.value ?? EXAMPLES["AIMD(a, b)"] ?? "");
  // The editor shows the control of a link, too.
  useSignalEffect(() => {
    if (state.control.value !== null) written.value = state.control.value;
  });
  const wrong = state.problem.value?.place === "control" ? state.problem.value : null;
  return (
    <section aria-labelledby="control">
      <details open={state.control.value !== null}>
        <summary><h2 id="control">Write a control</h2></summary>
        <p>
          A class <code>Control</code> with <code>window</code> and <code>ssthresh</code> in packets, and the methods{" "}
          <code>onAck</code>, <code>onLoss</code> and <code>onTimeout</code>; flows use it as the control <code>own</code>.
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
