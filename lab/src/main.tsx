// The page: forms on one side, the run on the other.

import { useComputed, useSignal } from "@preact/signals";
import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { follow, open } from "./address.ts";
import { listen } from "./keys.ts";
import { called, panels } from "./panels.ts";
import * as state from "./state.ts";
import { Asks, Control } from "./views/control.tsx";
import { Flows } from "./views/flows.tsx";
import { Numbers } from "./views/numbers.tsx";
import { Path } from "./views/path.tsx";
import { Phase } from "./views/phase.tsx";
import { Legend, Player } from "./views/player.tsx";
import { Plot } from "./views/plot.tsx";
import { Presets } from "./views/presets.tsx";
import { Texts } from "./views/texts.tsx";

/** On a narrow page the curves come first. */
const isWide = innerWidth > 820;
/** Plots in the rows above the phase plane, which is two rows high. */
const BEFORE_PHASE = 4;

function Wrong() {
  const texts = [state.linkProblem.value];
  if (state.problem.value?.place === "scenario") texts.push(state.problem.value.text);
  return texts.map((text) => text && <p key={text} class="wrong" role="alert">{text}</p>);
}

function Curves() {
  const internal = useSignal("");
  const shared = useSignal(0);
  const names = useComputed(() => {
    state.revision.value;
    return state.trace.value?.internals() ?? [];
  });
  state.revision.value;
  const seen = state.trace.value;
  if (!seen) return <p class="hint">The engine is starting.</p>;
  const column = names.value.includes(internal.value) ? internal.value : (names.value[0] ?? "");
  const plots = panels(seen, state.ghost.value?.trace ?? null, state.hidden.value, column, shared.value);
  return (
    <>
      {seen.full_at_s !== null && (
        <p class="hint" role="status">
          {`The curves end at ${seen.full_at_s.toFixed(1)} s, because the page has no memory for more samples; a larger run.sample shows the whole run.`}
        </p>
      )}
      <div class="plots">
        {plots.slice(0, BEFORE_PHASE).map((panel) => (
          <Plot key={panel.key} panel={panel} />
        ))}
        <Phase />
        {plots.slice(BEFORE_PHASE).map((panel) => (
          <Plot key={panel.key} panel={panel} />
        ))}
      </div>
      {names.value.length > 0 && (
        <label>
          inside the controls{" "}
          <select value={column} onChange={(event) => (internal.value = event.currentTarget.value)}>
            {names.value.map((name) => (
              <option key={name} value={name}>{called(name)}</option>
            ))}
          </select>
        </label>
      )}
      {seen.sharings.length > 1 && (
        <label>
          {" shares of "}
          <select value={shared.value} onChange={(event) => (shared.value = Number(event.currentTarget.value))}>
            {seen.sharings.map(({ link }, index) => (
              <option key={link} value={index}>{link}</option>
            ))}
          </select>
        </label>
      )}
    </>
  );
}

function Page() {
  const now = state.controlPage.value;
  const ready = state.catalogue.value !== null;
  return (
    <>
      <header>
        <h1>ackclock lab</h1>
        <p>
          The simulator itself, running in this page.{" "}
          <span role="status" data-status={state.status.value}>
            {state.status.value === "running" ? `running, ${state.shown_s.value.toFixed(1)} s` : state.status.value}
          </span>
        </p>
      </header>
      <main>
        <div class="forms">
          <Presets />
          {ready && (
            <details open={isWide}>
              <summary><span class="title">Change the path and the flows</span></summary>
              <Path />
              <Flows />
            </details>
          )}
        </div>
        <div class="run">
          <Asks />
          <Wrong />
          <Legend />
          <Player />
          <section aria-labelledby="curves">
            <h2 id="curves" class="unseen">Curves</h2>
            <Curves />
          </section>
          <Numbers />
          {now && (
            <section aria-labelledby="page">
              <h2 id="page">{now.control}</h2>
              <button type="button" onClick={() => (state.controlPage.value = null)}>Close</button>
              <pre class="page" tabIndex={0} aria-label={`page of ${now.control}`}>{now.text}</pre>
            </section>
          )}
          <Control />
          <Texts />
        </div>
      </main>
      <footer>
        <p>
          Keys: <kbd>a</kbd> adds a flow, <kbd>p</kbd> plays and pauses, <kbd>.</kbd> and <kbd>,</kbd> step by a round trip,{" "}
          <kbd>+</kbd> and <kbd>-</kbd> zoom. Nothing leaves this page.
        </p>
      </footer>
    </>
  );
}

const place = document.getElementById("lab");
if (place) render(<Page />, place);
listen();
void open().then(follow);
