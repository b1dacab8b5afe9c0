import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";

/** The engine as a text, because a page that may not use the network cannot fetch it. */
function engine(): Plugin {
  const name = "virtual:engine";
  return {
    name: "engine",
    resolveId: (id) => (id === name ? `\0${name}` : undefined),
    load: (id) => {
      if (id !== `\0${name}`) return undefined;
      const bytes = gzipSync(readFileSync(`${import.meta.dirname}/engine/engine_bg.wasm`), { level: 9 });
      return `export default "${bytes.toString("base64")}"`;
    },
  };
}

const hash = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** No network at all. Scripts: the page's own, the worker, and in it the control that is written in the page. */
const policy = (script: string, style: string): string =>
  [
    "default-src 'none'",
    `script-src ${script} blob: 'wasm-unsafe-eval'`,
    `style-src ${style}`,
    "worker-src blob:",
    "img-src data: blob:",
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");

const withPolicy = (page: string, script: string, style: string): string =>
  page.replace(
    "<head>",
    () => `<head>\n<meta http-equiv="Content-Security-Policy" content="${policy(script, style)}">`,
  );

/** Gives both pages their policies, and writes lab.html, which has everything in it. */
function pages(): Plugin {
  return {
    name: "pages",
    apply: "build",
    writeBundle: (options, bundle) => {
      const folder = options.dir ?? "dist";
      const html = readFileSync(`${folder}/index.html`, "utf8");
      let script = "";
      let style = "";
      for (const file of Object.values(bundle)) {
        // An end tag in a text of the script would end the script.
        if (file.type === "chunk") script += file.code.replaceAll("</script", "<\\/script");
        else if (file.fileName.endsWith(".css")) style += String(file.source);
      }
      const alone = html
        .replace(/<script[^>]*><\/script>/, "")
        .replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${style}</style>`)
        .replace("</body>", () => `<script type="module">${script}</script>\n</body>`);
      writeFileSync(`${folder}/index.html`, withPolicy(html.replaceAll(" crossorigin", ""), "'self'", "'self'"));
      writeFileSync(`${folder}/lab.html`, withPolicy(alone, hash(script), hash(style)));
    },
  };
}

export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  plugins: [engine(), pages()],
  worker: { format: "iife", plugins: () => [] },
  build: {
    target: "es2022",
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 4000,
    modulePreload: { polyfill: false },
    rollupOptions: { output: { inlineDynamicImports: true, entryFileNames: "lab.js", assetFileNames: "lab[extname]" } },
  },
});
