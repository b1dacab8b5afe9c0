// The native engine, as an oracle for the engine in the page.

import { execFileSync } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the page, and the repository's. */
export const LAB = process.env.LAB ?? dirname(dirname(fileURLToPath(import.meta.url)));
export const ROOT = dirname(LAB);

/** A scenario with the files that it names. */
export interface Request {
  text: string;
  isJson: boolean;
  files: Record<string, string>;
}

/** What the native engine gives of scenarios, a line for each: digests, or the extremes of samples as JSON; or refusals. */
export function native(what: "digests" | "buckets", requests: readonly Request[]): string[] {
  const arguments_ = ["run", "--quiet", "--release", "--package", "ackclock-web", "--example", "native", "--", what];
  const input = requests.map((one) => `${JSON.stringify(one)}\n`).join("");
  const output = execFileSync("cargo", arguments_, { cwd: ROOT, input, encoding: "utf8", maxBuffer: 1e9 });
  return output.trimEnd().split("\n");
}
