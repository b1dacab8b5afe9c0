// The page's side of the engine: one worker, replaced when it is broken or does not answer.

import bytes from "virtual:engine";
import LabWorker from "./worker.ts?worker&inline";
import type { FromWorker, Request, ToWorker } from "./messages.ts";

/** How long a control may take to answer before its worker is ended, milliseconds. */
export const BUDGET_MS = 5000;

/** Listeners to the worker's messages, and to the end of workers. */
export interface Listener {
  heard(message: FromWorker): void;
  stopped(id: number): void;
}

async function compile(): Promise<WebAssembly.Module> {
  const compressed = Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0));
  const stream = new Blob([compressed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

/** The engine. All of its messages go to a listener. */
export class Engine {
  #listener: Listener;
  #module = compile();
  #worker: Worker | undefined;
  #waiting: ToWorker[] = [];
  #ready = false;
  #newest = 0;
  #running = false;
  /** The newest run, while the worker may still be busy with one before it. */
  #overtakes: ToWorker | undefined;
  #watch: ReturnType<typeof setTimeout> | undefined;

  constructor(listener: Listener) {
    this.#listener = listener;
    this.#begin();
  }

  /**
   * Runs a scenario, which replaces the one before.
   *
   * @returns The number that all answers to it have.
   */
  run(request: Request): number {
    this.#newest += 1;
    const message: ToWorker = { kind: "run", id: this.#newest, ...request };
    this.#overtakes = this.#running ? message : undefined;
    this.#running = true;
    this.#tell(message);
    this.#expect();
    return this.#newest;
  }

  /** Asks for the page of a control. */
  page(control: string): void {
    this.#tell({ kind: "page", control });
  }

  #tell(message: ToWorker): void {
    if (this.#ready) this.#worker?.postMessage(message);
    else this.#waiting = [...this.#waiting.filter((one) => one.kind !== message.kind), message];
  }

  #begin(): void {
    const worker = new LabWorker();
    this.#worker = worker;
    this.#ready = false;
    worker.addEventListener("message", (event: MessageEvent<FromWorker>) => {
      if (worker === this.#worker) this.#hear(event.data);
    });
    void this.#module.then((module) => worker.postMessage({ kind: "begin", module } satisfies ToWorker));
  }

  #replace(): void {
    this.#worker?.terminate();
    this.#begin();
  }

  #hear(message: FromWorker): void {
    if (message.kind === "ready") {
      this.#ready = true;
      for (const one of this.#waiting.splice(0)) this.#worker?.postMessage(one);
      if (this.#running) this.#expect();
    } else if (message.kind === "broken") {
      this.#running = false;
      this.#replace();
    } else if (message.kind === "ended" || message.kind === "refused" || message.kind === "thrown") {
      if (message.id === this.#newest) this.#running = false;
    }
    if ("id" in message && message.id === this.#newest) this.#overtakes = undefined;
    this.#expect();
    this.#listener.heard(message);
  }

  /** From now on the worker has its budget until its next message. */
  #expect(): void {
    clearTimeout(this.#watch);
    if (!this.#running || !this.#ready) return;
    this.#watch = setTimeout(() => {
      this.#replace();
      const overtakes = this.#overtakes;
      this.#overtakes = undefined;
      if (overtakes) {
        // It was the run before that did not answer; this one gets a worker and a budget of its own.
        this.#tell(overtakes);
        return;
      }
      this.#running = false;
      this.#listener.stopped(this.#newest);
    }, BUDGET_MS);
  }
}
