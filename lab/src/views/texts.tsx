// Exports of the page: the scenario as TOML, the link, the data, and the commands that do the same.

import { useSignal } from "@preact/signals";
import { changeToml, hidden, problem, scenario, shown_s, toml, trace, zoom } from "../state.ts";
import { csv, save } from "../take.ts";
import { Editor } from "./editor.tsx";

const PYTHON = `import ackclock

run = ackclock.simulate("scenario.toml")
print(run.summary["flows"], run.digest)`;
const COMMAND = "ackclock simulate scenario.toml";

async function copy(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
}

function saveCsv(): void {
  const seen = trace.value;
  if (!seen) return;
  const [from, to] = zoom.value ?? [0, Infinity];
  save("ackclock.csv", new Blob([csv(seen, hidden.value, from, Math.min(to, shown_s.value))], { type: "text/csv" }));
}

/** The scenario as text, and all exports. */
export function Texts() {
  const copied = useSignal("");
  const wrong = problem.value?.place === "scenario" ? problem.value : null;
  const copyLink = (): void => {
    const done = (): void => void (copied.value = "Copied.");
    const refused = (): void => void (copied.value = "The browser does not allow copying; the link is the address of this page.");
    copy(location.href).then(done, refused);
  };
  return (
    <section aria-labelledby="texts">
      <h2 id="texts">Take it along</h2>
      <p class="tools">
        <button type="button" onClick={() => save("scenario.toml", new Blob([toml.value], { type: "application/toml" }))}>TOML</button>
        <button type="button" onClick={saveCsv} disabled={!trace.value}>CSV</button>
        <button type="button" onClick={() => save("scenario.json", new Blob([JSON.stringify(scenario.value, null, 1)], { type: "application/json" }))}>JSON</button>
        <button type="button" onClick={copyLink}>Copy the link</button>
        <span role="status">{copied.value}</span>
      </p>
      <Editor label="Scenario as TOML" value={toml.value} line={wrong?.line ?? null} onInput={changeToml} />
      <details>
        <summary>The same on the command line and in Python</summary>
        <p>Save the TOML, then</p>
        <pre tabIndex={0} aria-label="command line">{COMMAND}</pre>
        <pre tabIndex={0} aria-label="Python">{PYTHON}</pre>
      </details>
    </section>
  );
}
