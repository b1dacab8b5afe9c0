// The messages between the page and the engine's worker.

/** A JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
/** A JSON object. */
export type JsonObject = { [key: string]: Json };

/** A parameter of a control, as the registry describes it. */
export interface Parameter {
  name: string;
  default: number | string | boolean;
  minimum: number | null;
  maximum: number | null;
  choices?: (string | boolean)[];
  meaning: string;
}

/** A congestion control, as the registry describes it. */
export interface Control {
  name: string;
  kind: "window" | "rate";
  source: string;
  parameters: Parameter[];
}

/** The engine's data that need no scenario. */
export interface Catalogue {
  version: string;
  controls: Control[];
  schema: JsonObject;
}

/** The part of a scenario that the page needs during a run. */
export interface Outline {
  duration_s: number;
  warmup_s: number;
  /** Spacing of samples; null if there is one sample per round trip. */
  sample_s: number | null;
  /** `path`: the links that the flow's data passes, by their number in `links`. */
  flows: { name: string; control: string; packet_bytes: number; path: number[] }[];
  links: string[];
}

/** A column of samples. */
export type Column = Float64Array | Uint32Array | string[];
/** Tables by name, each with its columns by name. */
export type Tables = Record<string, Record<string, Column>>;

/** Counters and means of a flow, as the engine's summary names them. */
export interface FlowSummary {
  name: string;
  controller: string;
  kind: "window" | "rate" | "datagrams" | "media" | "web";
  rtt_ms: number;
  goodput_mbps: number | null;
  mean_window: number | null;
  mean_rtt_ms: number | null;
  rtt_p50_ms: number | null;
  rtt_p95_ms: number | null;
  delay_p50_ms: number | null;
  delay_p95_ms: number | null;
  sent_packets: number;
  dropped_packets: number;
  loss_events: number | null;
  timeouts: number;
}

/** The engine's summary of a link. */
export interface LinkSummary {
  id: string;
  utilisation: number | null;
  queue_drops: number;
  marks: number;
  random_losses: number;
  mean_queue_packets: number | null;
  max_queue_packets: number;
}

/** The engine's summary of a run. */
export interface Summary {
  version: string;
  digest: string;
  seed: number;
  duration_s: number;
  measured_from_s: number;
  flows: FlowSummary[];
  links: LinkSummary[];
  jain: number | null;
  packets_simulated: number;
  warnings: string[];
  notes: string[];
}

/** A scenario as a text, with the files that it names and the control that is written in the page. */
export interface Request {
  text: string;
  isJson: boolean;
  files: Record<string, string>;
  control: string | null;
}

/** From the page to the worker. A new `run` ends the previous one. */
export type ToWorker =
  | { kind: "begin"; module: WebAssembly.Module }
  | ({ kind: "run"; id: number } & Request)
  | { kind: "page"; control: string };

/** From the worker to the page. */
export type FromWorker =
  | { kind: "ready"; catalogue: Catalogue }
  | { kind: "page"; control: string; text: string }
  | { kind: "registered"; id: number; control: Control | null }
  | { kind: "accepted"; id: number; outline: Outline; toml: string; written: JsonObject }
  | { kind: "refused"; id: number; problem: string }
  | { kind: "thrown"; id: number; problem: string; line: number | null }
  | { kind: "samples"; id: number; now_s: number; packets: number; tables: Tables }
  | { kind: "ended"; id: number; summary: Summary }
  | { kind: "broken"; id: number; problem: string };
