// The permalink: the scenario, compressed, in the fragment of the address. No part of it goes to a server.

import type { Json, JsonObject } from "./messages.ts";
import { isTable } from "./scenario.ts";

/** More than this in a link is not a scenario. */
const MOST_BYTES = 4e6;

/** The content of a link. */
export interface Carried {
  scenario: JsonObject;
  control: string | null;
  files: Record<string, string>;
}

async function through(bytes: BlobPart, stream: TransformStream): Promise<Uint8Array> {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    const part = read.value as Uint8Array;
    size += part.length;
    if (size > MOST_BYTES) throw new Error("it carries too much");
    parts.push(part);
  }
  const all = new Uint8Array(size);
  let place = 0;
  for (const part of parts) {
    all.set(part, place);
    place += part.length;
  }
  return all;
}

/** Packs a scenario into a fragment. */
export async function pack(carried: Carried): Promise<string> {
  const { scenario, control, files } = carried;
  const small: JsonObject = { scenario };
  if (control !== null) small.control = control;
  if (Object.keys(files).length > 0) small.files = files;
  const bytes = await through(JSON.stringify(small), new CompressionStream("deflate-raw"));
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return `#s=${btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/**
 * Unpacks a fragment.
 *
 * @returns The contents of the fragment; null when it has none.
 * @throws Error with the problem of the fragment.
 */
export async function unpack(fragment: string): Promise<Carried | null> {
  const found = /^#s=(.*)$/.exec(fragment);
  if (found === null) return null;
  let value: Json;
  try {
    const letters = atob((found[1] ?? "").replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const text = await through(bytes, new DecompressionStream("deflate-raw"));
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(text));
  } catch (error) {
    throw new Error("it is cut off or changed", { cause: error });
  }
  if (!isTable(value) || !isTable(value.scenario)) throw new Error("it has no scenario in it");
  const files = isTable(value.files) ? value.files : {};
  return {
    scenario: value.scenario,
    control: typeof value.control === "string" ? value.control : null,
    files: Object.fromEntries(Object.entries(files).map(([name, text]) => [name, String(text)])),
  };
}
