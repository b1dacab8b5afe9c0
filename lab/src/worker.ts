// The engine's worker: runs scenarios for the page, and abandons a run as soon as the page requests a newer one.

import init, { Run, Scenario, controllers, last_panic, page, register, schema, version } from "../engine/engine.js";
import type { Column, FromWorker, JsonObject, Outline, Request, Summary, Tables, ToWorker } from "./messages.ts";
import { ControlError, load, located } from "./own.ts";

/** More flows than this take more memory for their summaries than a page should. */
const MOST_FLOWS = 1000;
/** Samples are sent about as often as a screen shows a picture. */
const SLICE_MS = 12;

const post = (message: FromWorker, transfer: Transferable[] = []): void => postMessage(message, { transfer });
let newest = 0;
let registered: string | null = null;

const channel = new MessageChannel();
let resume: () => void = () => undefined;
channel.port1.onmessage = () => resume();
/** Lets messages in; unlike a timer it does not wait. */
const breathe = (): Promise<void> =>
  new Promise((resolve) => {
    resume = resolve;
    channel.port2.postMessage(null);
  });

function buffers(tables: Tables): Transferable[] {
  const columns: Column[] = Object.values(tables).flatMap((table) => Object.values(table));
  return columns.flatMap((column) => (Array.isArray(column) ? [] : [column.buffer]));
}

async function register_own(id: number, text: string | null): Promise<void> {
  if (text === null || text === registered) return;
  register((await load(text)) as never);
  registered = text;
  const all = JSON.parse(controllers());
  post({ kind: "registered", id, control: all.find((one: { name: string }) => one.name === "own") ?? null });
}

async function run(id: number, request: Request): Promise<void> {
  await register_own(id, request.control);
  let scenario: Scenario;
  try {
    scenario = Scenario.read(request.text, request.isJson, JSON.stringify(request.files));
  } catch (problem) {
    if (typeof problem !== "string") throw problem;
    post({ kind: "refused", id, problem });
    return;
  }
  const outline: Outline = JSON.parse(scenario.outline());
  if (outline.flows.length > MOST_FLOWS) {
    const problem = `${outline.flows.length} flows are too many for a page, which runs at most ${MOST_FLOWS}; ackclock simulate runs them`;
    post({ kind: "refused", id, problem });
    return;
  }
  const written: JsonObject = JSON.parse(scenario.written_json());
  post({ kind: "accepted", id, outline, toml: scenario.written(), written });
  const simulation = new Run(scenario, 0, true);
  scenario.free();
  let events = 1000;
  for (let ended = false; !ended; ) {
    await breathe();
    if (id !== newest) {
      simulation.free();
      return;
    }
    const begin = performance.now();
    ended = simulation.advance(events);
    const took = performance.now() - begin;
    events = Math.round(Math.min(2e6, Math.max(1000, events * Math.min(4, SLICE_MS / Math.max(took, 0.5)))));
    const tables = simulation.take() as Tables;
    post({ kind: "samples", id, now_s: simulation.now_s(), packets: simulation.packets(), tables }, buffers(tables));
  }
  const summary: Summary = JSON.parse(simulation.finish());
  simulation.free();
  post({ kind: "ended", id, summary });
}

function failed(id: number, error: unknown): void {
  if (error instanceof WebAssembly.RuntimeError) {
    // The engine is unusable after this; the page starts another worker.
    post({ kind: "broken", id, problem: last_panic() ?? error.message });
    return;
  }
  if (typeof error === "string") {
    post({ kind: "refused", id, problem: error });
    return;
  }
  const { message, line } = error instanceof ControlError ? error : located(error);
  registered = null;
  post({ kind: "thrown", id, problem: message, line });
}

addEventListener("message", (event: MessageEvent<ToWorker>) => {
  const message = event.data;
  switch (message.kind) {
    case "begin":
      void init({ module_or_path: message.module }).then(() => {
        const catalogue = { version: version(), controls: JSON.parse(controllers()), schema: JSON.parse(schema()) };
        post({ kind: "ready", catalogue });
      });
      break;
    case "page":
      post({ kind: "page", control: message.control, text: page(message.control) ?? "" });
      break;
    case "run":
      newest = message.id;
      run(message.id, message).catch((error: unknown) => failed(message.id, error));
      break;
  }
});
