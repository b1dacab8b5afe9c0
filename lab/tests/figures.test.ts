// Every figure of the papers on a page has the ends, ticks, names and values of its description, like the printed figure.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import type uPlot from "uplot";
import type { Page as Data } from "../src/charts/data.ts";
import { browser, open } from "./browser.ts";
import { ROOT } from "./native.ts";

browser();

const folder = mkdtempSync(join(tmpdir(), "ackclock-figures-"));
after(() => rmSync(folder, { recursive: true, force: true }));

interface Seen {
  ends: [number, number];
  places: number[];
  words: string[];
}

test("all figures: the page draws what is described", async () => {
  const file = join(folder, "figures.html");
  const python = process.env.PYTHON ?? join(ROOT, ".venv/bin/python");
  execFileSync(python, [join(ROOT, "tests/every_figure.py"), file], { cwd: join(ROOT, "tests"), stdio: "inherit" });
  const page = await open({ address: pathToFileURL(file).href });
  const data = JSON.parse((await page.locator("#charts-data").textContent()) ?? "") as Data;
  let compared = 0;
  for (const [name, group] of Object.entries(data.groups)) {
    const place = page.locator(`[data-charts="${name}"]`);
    for (const chart of group.charts) {
      const canvas = place.locator(`[data-chart="${chart.key}"] .canvas`);
      await canvas.scrollIntoViewIfNeeded();
      await canvas.locator(".uplot").waitFor();
      // A chart draws in a microtask after it is made.
      const seen = await canvas.evaluate((host): Promise<Record<"x" | "y", Seen> & { names: string[]; values: (number | null)[][] }> =>
        new Promise((resolve) => {
          const look = (): void => {
            const plot = (host as unknown as { plot: uPlot }).plot;
            const axis = (index: number): { _splits?: (number | null)[] | null; _values?: string[] | null } => plot.axes[index] as object;
            if (!axis(0)._values || !axis(1)._values) return void requestAnimationFrame(look);
            const of = (scale: "x" | "y", index: number): Seen => ({
              ends: [plot.scales[scale]?.min as number, plot.scales[scale]?.max as number],
              places: [...(axis(index)._splits ?? [])].map(Number),
              words: [...(axis(index)._values ?? [])],
            });
            const values = plot.data.slice(1).map((column) => [...(column as (number | null)[])]);
            resolve({ x: of("x", 0), y: of("y", 1), names: plot.series.slice(1).map((one) => String(one.label)), values });
          };
          look();
        }),
      );
      const where = `${name}, ${chart.key}`;
      for (const key of ["x", "y"] as const) {
        const axis = chart[key];
        assert.deepEqual(seen[key].ends, [...axis.range], `${where}: ends of ${key}`);
        assert.deepEqual(seen[key].places, axis.ticks.map(([at]) => at), `${where}: ticks of ${key}`);
        const isTime = key === "x" && axis.label === "time" && axis.unit === "s";
        const words = axis.ticks.map(([, word]) => (isTime ? `${word} s` : word));
        // On a narrow chart a word that would lie on the one before it is left out.
        const isLeftOut = (index: number): boolean => key === "x" && index > 0 && seen.x.words[index] === "";
        assert.deepEqual(seen[key].words, words.map((word, index) => (isLeftOut(index) ? "" : word)), `${where}: words of ${key}`);
        assert.ok(seen[key].words.filter((word) => word !== "").length >= words.length / 2, `${where}: half of the words of ${key}`);
      }
      assert.deepEqual(seen.names, chart.series.map((one) => one.name), where);
      if (chart.kind === "curves") {
        // Marks and points are drawn from the columns themselves.
        for (const [index, series] of chart.series.entries()) {
          if (series.look === "points" || series.paper) continue;
          const known = (column: readonly (number | null)[]): number[] => column.flatMap((value) => value ?? []);
          assert.deepEqual(known(seen.values[index] as number[]), known(data.columns[series.y] as (number | null)[]), `${where}: ${series.name}`);
        }
      }
      compared += 1;
    }
  }
  assert.ok(compared > 150, `${compared} charts`);
  await page.close();
});
