// The whole state of the page: a scenario, the samples of its run, and the view.

import { batch, computed, signal } from "@preact/signals";
import { Engine } from "./engine.ts";
import type { Catalogue, Control, FromWorker, JsonObject, Summary } from "./messages.ts";
import { FIRST } from "./scenario.ts";
import { Trace } from "./trace.ts";

/** A problem, and the editor that it belongs to. */
export interface Problem {
  text: string;
  place: "scenario" | "control";
  line: number | null;
}

/** A run that is kept to be compared with. */
export interface Kept {
  trace: Trace;
  summary: Summary;
}

/** The scenario that runs, as data. */
export const scenario = signal<JsonObject>(FIRST);
/** The same as text in the editor. */
export const toml = signal("");
/** Files that the scenario names. */
export const files = signal<Record<string, string>>({});
/** The control that is written in the page, and whether it may run. */
export const control = signal<string | null>(null);
export const controlAsks = signal(false);
/** The engine's description of that control. */
export const ownControl = signal<Control | null>(null);
/** The preset that the scenario came from. */
export const preset = signal<{ group: string; name: string; label: string } | null>(null);

export const catalogue = signal<Catalogue | null>(null);
export const controls = computed(() => [
  ...(catalogue.value?.controls ?? []),
  ...(ownControl.value ? [ownControl.value] : []),
]);
export const status = signal<"loading" | "running" | "done" | "failed">("loading");
export const problem = signal<Problem | null>(null);
/** The problem of the opened link. */
export const linkProblem = signal<string | null>(null);

/** Rises with every new sample of the run, so that the plots are drawn again. */
export const revision = signal(0);
export const trace = signal<Trace | null>(null);
export const summary = signal<Summary | null>(null);
export const ghost = signal<Kept | null>(null);
export const controlPage = signal<{ control: string; text: string } | null>(null);

/** The view: hidden names, the zoomed range, the time under the pointer, and the time of a replay, seconds. */
export const hidden = signal<ReadonlySet<string>>(new Set());
export const zoom = signal<readonly [number, number] | null>(null);
export const hover_s = signal<number | null>(null);
export const replay_s = signal<number | null>(null);
export const playing = signal(false);
export const speed = signal(1);
/** Simulated seconds that are shown. */
export const shown_s = computed(() => {
  revision.value;
  return replay_s.value ?? trace.value?.now_s ?? 0;
});

let current = 0;
let from: "form" | "editor" = "form";
let drawing = false;

function redraw(): void {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    revision.value += 1;
  });
}

function lineOf(text: string): number | null {
  const found = /^scenario:(\d+): /.exec(text);
  return found === null ? null : Number(found[1]);
}

function fail(text: string, place: Problem["place"], line: number | null): void {
  batch(() => {
    problem.value = { text, place, line };
    status.value = "failed";
  });
}

function heard(message: FromWorker): void {
  if (message.kind === "ready") {
    catalogue.value = message.catalogue;
    return;
  }
  if (message.kind === "page") {
    controlPage.value = message;
    return;
  }
  if (message.id !== current) return;
  switch (message.kind) {
    case "registered":
      ownControl.value = message.control;
      break;
    case "accepted":
      batch(() => {
        problem.value = null;
        status.value = "running";
        if (from === "editor") scenario.value = message.written;
        else toml.value = message.toml;
        trace.value = new Trace(message.outline);
        summary.value = null;
      });
      break;
    case "samples":
      trace.value?.add(message.now_s, message.tables);
      redraw();
      break;
    case "ended":
      batch(() => {
        summary.value = message.summary;
        status.value = "done";
        revision.value += 1;
      });
      break;
    case "refused":
      fail(message.problem, "scenario", lineOf(message.problem));
      break;
    case "thrown":
      fail(message.problem, "control", message.line);
      break;
    case "broken":
      fail(`the engine stopped: ${message.problem}`, "scenario", null);
      break;
  }
}

const engine = new Engine({
  heard,
  stopped: (id) => {
    if (id !== current) return;
    const own = control.value !== null && !controlAsks.value;
    const text = own
      ? "the control was stopped: it did not answer within its budget of 5 s; look for an endless loop"
      : "the engine did not answer within 5 s and was stopped";
    fail(text, own ? "control" : "scenario", null);
  },
});

function send(text: string, isJson: boolean): void {
  const own = controlAsks.value ? null : control.value;
  current = engine.run({ text, isJson, files: files.value, control: own });
}

/** Runs the scenario as it is. */
export function run(): void {
  from = "form";
  send(JSON.stringify(scenario.value), true);
}

/** Takes over a changed scenario and runs it. */
export function change(to: JsonObject): void {
  batch(() => {
    scenario.value = to;
    zoom.value = null;
    replay_s.value = null;
    playing.value = false;
  });
  run();
}

/** Takes over the text of the editor, and runs it if the engine accepts it. */
export function changeToml(text: string): void {
  toml.value = text;
  from = "editor";
  send(text, false);
}

/** Makes a text the control `own`, and runs the scenario again. */
export function changeControl(text: string | null): void {
  batch(() => {
    control.value = text;
    controlAsks.value = false;
    if (text === null) ownControl.value = null;
  });
  run();
}

/** Asks for the page of a control. */
export function explain(name: string): void {
  engine.page(name);
}

/** Keeps the run behind the next ones, or removes it. */
export function keep(): void {
  const [seen, numbers] = [trace.value, summary.value];
  ghost.value = seen && numbers ? { trace: seen, summary: numbers } : null;
}

/** Hides a flow, or shows it again. */
export function toggle(name: string): void {
  const names = new Set(hidden.value);
  if (!names.delete(name)) names.add(name);
  hidden.value = names;
}

/** Reports that the address could not be read. */
export function broken(text: string): void {
  linkProblem.value = text;
}
