// A Chromium with the page in it, for the journeys.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium, type BrowserContext, type Page } from "playwright-core";

/** The folder of the page. */
export const LAB = process.env.LAB ?? dirname(dirname(fileURLToPath(import.meta.url)));
const ADDRESS = pathToFileURL(join(LAB, "dist/lab.html")).href;
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--enable-precise-memory-info",
];
/** How long anything may take on a busy machine, milliseconds. */
export const PATIENCE_MS = 60_000;

/** How a page is opened. */
export interface Looks {
  width?: number;
  scheme?: "light" | "dark";
  fragment?: string;
  /** Another page than the laboratory. */
  address?: string;
}

/** What the browser complained about, and addresses that pages asked for. */
export const heard: { errors: string[]; requests: string[] } = { errors: [], requests: [] };

let context: BrowserContext;
let folder: string;

/** Has a browser for the tests of a file. */
export function browser(): void {
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "ackclock-lab-"));
    context = await chromium.launchPersistentContext(folder, {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      headless: true,
      args: ARGUMENTS,
      acceptDownloads: true,
    });
    context.setDefaultTimeout(PATIENCE_MS);
  });
  after(async () => {
    await context.close();
    rmSync(folder, { recursive: true, force: true });
  });
}

/** Opens the page. */
export async function open({ width = 1400, scheme = "light", fragment = "", address = ADDRESS }: Looks = {}): Promise<Page> {
  const page = await context.newPage();
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme: scheme });
  page.on("pageerror", (error) => heard.errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && heard.errors.push(message.text()));
  page.on("request", (request) => heard.requests.push(request.url()));
  await page.goto(address + fragment);
  return page;
}

/** Waits for a run to end. */
export async function done(page: Page): Promise<void> {
  await page.locator("[data-status=done]").waitFor();
}

/** Does something, and waits for the end of the run that it begins. */
export async function rerun(page: Page, act: () => Promise<unknown>): Promise<string> {
  const before = await page.evaluate(() => document.querySelector("[data-number=digest]")?.textContent ?? null);
  await act();
  await page.waitForFunction(
    (old) => {
      const digest = document.querySelector("[data-number=digest]")?.textContent;
      return digest !== undefined && digest !== null && digest !== old && document.querySelector("[data-status=done]") !== null;
    },
    before,
    { timeout: PATIENCE_MS },
  );
  return (await page.locator("[data-number=digest]").textContent()) ?? "";
}

/** The number in a table by the names of its row and column. */
export async function number(page: Page, table: string, row: string, column: string): Promise<string> {
  const place = page.getByRole("region", { name: table });
  const heads = await place.locator("thead th").allTextContents();
  const index = heads.findIndex((head) => head.startsWith(column));
  const cells = place.locator("tbody tr").filter({ has: page.locator("th", { hasText: row }) });
  return (await cells.first().locator("th, td").nth(index).textContent()) ?? "";
}
