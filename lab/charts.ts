// Builds the charts of result pages into one file, ackclock/draw/charts.js. Its first line has fingerprints of what it
// was made from and of what follows, so that a checkout without Node can tell whether it is up to date.

import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** The file, as a text, from the folder of the laboratory. */
export async function charts(lab: string): Promise<string> {
  const source = join(lab, "src/charts");
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(lab, "package.json"), "utf8"));
  const tools = `uplot ${dependencies.uplot}, esbuild ${devDependencies.esbuild}`;
  const files = readdirSync(source).sort();
  const sources = files.map((name) => `${name}\n${readFileSync(join(source, name), "utf8")}`);
  const made = await build({
    entryPoints: [join(source, "main.ts")],
    bundle: true,
    minify: true,
    write: false,
    format: "iife",
    target: "es2022",
    charset: "ascii",
    legalComments: "none",
    loader: { ".css": "text" },
    banner: { js: `/*! uPlot\n${readFileSync(join(lab, "node_modules/uplot/LICENSE"), "utf8").trim()}\n*/` },
  });
  // An end tag in a text of the script would end the script.
  const body = (made.outputFiles[0]?.text ?? "").replaceAll("</script", "<\\/script");
  return `// Made by "make charts" from lab/src/charts: sources ${sha256([tools, ...sources].join("\n"))}, rest ${sha256(body)}\n${body}`;
}

if (process.argv[2]?.endsWith("charts.js")) {
  const lab = process.env.LAB ?? dirname(fileURLToPath(import.meta.url));
  writeFileSync(process.argv[2], await charts(lab));
}
