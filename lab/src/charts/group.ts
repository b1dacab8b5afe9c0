// Charts that belong together: one legend, and if they are linked one zoom and one pointer.

import { draw, type Drawn, type Shared } from "./chart.ts";
import { titled, type Chart, type Column, type Group, type Range } from "./data.ts";
import { curveColour } from "./palette.ts";

const query = matchMedia("(prefers-color-scheme: dark)");
const paper = matchMedia("print");
/** Paper is light, whatever the screen is. */
const isDark = (): boolean => query.matches && !paper.matches;
/** How much of the width an arrow moves, and how much of it a zoom leaves. */
const STEP = 0.01;
const ZOOM = 0.5;

/** As many linked charts stand below each other, more side by side. */
const MOST_WIDE = 4;

/** Stands for the grey of a paper's values. */
const PAPER_COLOUR = -1;

interface Place {
  chart: Chart;
  host: HTMLElement;
  readout: HTMLElement;
  drawn: Drawn | null;
}

function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** A finger on a chart reads, two zoom. */
function touch({ plot }: Drawn, zoomed: (range: Range) => void): void {
  const fingers = new Map<number, number>();
  let held: [number, number] | null = null;
  const { over } = plot;
  const left = (event: PointerEvent): number => event.clientX - over.getBoundingClientRect().left;
  const values = (): [number, number] => {
    const [a = 0, b = 0] = [...fingers.values()].sort((one, other) => one - other);
    return [plot.posToVal(a, "x"), plot.posToVal(b, "x")];
  };
  over.addEventListener("pointerdown", (event) => {
    if (event.pointerType !== "touch") return;
    fingers.set(event.pointerId, left(event));
    held = fingers.size === 2 ? values() : null;
  });
  over.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    fingers.set(event.pointerId, left(event));
    if (fingers.size === 1) plot.setCursor({ left: left(event), top: over.clientHeight / 2 });
    if (fingers.size !== 2 || held === null) return;
    const [low, high] = values();
    const { min = 0, max = 1 } = plot.scales.x as { min?: number; max?: number };
    const size = (held[1] - held[0]) / (high - low);
    const start = held[0] - (low - min) * size;
    if (size > 0 && Number.isFinite(size)) zoomed([start, start + (max - min) * size]);
  });
  for (const end of ["pointerup", "pointercancel"] as const) {
    over.addEventListener(end, (event) => {
      fingers.delete(event.pointerId);
      held = null;
    });
  }
}

/** Puts the charts of a group into their place on the page. */
export function show(group: Group, columns: readonly Column[], place: HTMLElement): void {
  const hidden = new Set<string>();
  const legend = make("div", { className: "legend" });
  const places = group.charts.map((chart): Place => {
    const host = make("div", { className: "canvas", tabIndex: 0 });
    host.setAttribute("role", "group");
    const keys = "Arrows read values, plus and minus zoom, 0 shows all again.";
    host.setAttribute("aria-label", `${titled(chart.y)} against ${titled(chart.x)}. ${keys}`);
    const readout = make("div", { className: "readout", hidden: true });
    readout.setAttribute("role", "status");
    return { chart, host, readout, drawn: null };
  });
  place.prepend(
    legend,
    make(
      "div",
      { className: `charts ${group.columns > 1 && places.length > 1 ? "" : places.length <= MOST_WIDE || !group.linked ? "wide-ones" : "pairs"}` },
      ...places.map(({ chart, host, readout }) => {
        const figure = make("figure", { className: "chart" }, make("figcaption", {}, chart.title), host, readout);
        figure.dataset.chart = chart.key;
        return figure;
      }),
    ),
  );

  const sync = group.linked ? `charts of ${place.dataset.charts}` : null;
  const together = { zoom: null as Range | null };
  const zooms = places.map(() => (group.linked ? together : { zoom: null as Range | null }));
  const anyZoom = (): boolean => zooms.some(({ zoom }) => zoom !== null);

  function zoomed(index: number, range: Range | null): void {
    (zooms[index] as typeof together).zoom = range;
    for (const [other, { drawn }] of places.entries()) if (group.linked || other === index) drawn?.refresh();
    whole.disabled = !anyZoom();
  }

  /** Zooms around what is read, or the middle. */
  function scaled(index: number, by: number): void {
    const plot = places[index]?.drawn?.plot;
    if (!plot) return;
    const { left } = plot.cursor;
    const width = plot.over.clientWidth;
    const at = left === undefined || left < 0 ? width / 2 : left;
    const ends = [at - at * by, at + (width - at) * by].map((end) => plot.posToVal(end, "x"));
    zoomed(index, ends as [number, number]);
  }

  const everywhere = (act: (index: number) => void): void => (group.linked ? act(0) : places.forEach((_, index) => act(index)));
  const whole = make("button", { type: "button", textContent: "Show all", disabled: true });
  whole.addEventListener("click", () => everywhere((index) => zoomed(index, null)));
  const nearer = make("button", { type: "button", textContent: "+", ariaLabel: "Zoom in" });
  nearer.addEventListener("click", () => everywhere((index) => scaled(index, ZOOM)));
  const farther = make("button", { type: "button", textContent: "−", ariaLabel: "Zoom out" });
  farther.addEventListener("click", () => everywhere((index) => scaled(index, 1 / ZOOM)));

  const colours = new Map<string, number>();
  for (const { series } of group.charts) {
    for (const one of series) if (!colours.has(one.name)) colours.set(one.name, one.paper ? PAPER_COLOUR : one.colour);
  }
  // What the paper states stands last.
  const names = [...colours.keys()].sort((one, other) => Number(colours.get(one) === PAPER_COLOUR) - Number(colours.get(other) === PAPER_COLOUR));
  const buttons = names.map((name) => {
    const button = make("button", { type: "button", title: "Click to hide or show, double-click to show only this" }, make("i"), name);
    button.addEventListener("click", () => {
      if (!hidden.delete(name)) hidden.add(name);
      chosen();
    });
    button.addEventListener("dblclick", () => {
      const isAlone = hidden.size === names.length - 1 && !hidden.has(name);
      hidden.clear();
      if (!isAlone) for (const other of names) if (other !== name) hidden.add(other);
      chosen();
    });
    return button;
  });
  legend.append(...(names.length > 1 ? buttons : []), make("span", { className: "zoom" }, nearer, farther, whole));

  function chosen(): void {
    for (const [index, button] of buttons.entries()) button.ariaPressed = String(!hidden.has(names[index] as string));
    for (const { drawn } of places) drawn?.refresh();
  }

  function drawn(index: number): void {
    const one = places[index] as Place;
    one.drawn?.destroy();
    const shared: Shared = {
      columns,
      hidden,
      isDark: isDark(),
      sync,
      zoom: () => zooms[index]?.zoom ?? null,
      zoomed: (range) => zoomed(index, range),
    };
    one.drawn = draw(one.chart, shared, one.host, one.readout);
    touch(one.drawn, shared.zoomed);
  }

  function keys(index: number, event: KeyboardEvent): void {
    const one = places[index]?.drawn;
    if (!one || event.ctrlKey || event.metaKey || event.altKey) return;
    const acts: Record<string, () => void> = {
      ArrowLeft: () => one.step(-STEP),
      ArrowRight: () => one.step(STEP),
      "+": () => scaled(index, ZOOM),
      "-": () => scaled(index, 1 / ZOOM),
      "0": () => zoomed(index, null),
    };
    const act = acts[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  }

  // A page may have many charts: they are drawn when they come near the window.
  const seen = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        seen.unobserve(entry.target);
        drawn(places.findIndex(({ host }) => host === entry.target));
      }
    },
    { rootMargin: "800px" },
  );
  for (const [index, { host }] of places.entries()) {
    host.addEventListener("keydown", (event) => keys(index, event));
    seen.observe(host);
  }
  query.addEventListener("change", () => {
    for (const [index, one] of places.entries()) if (one.drawn) drawn(index);
    coloured();
  });
  // On paper all charts are seen.
  paper.addEventListener("change", () => {
    for (const index of places.keys()) drawn(index);
    coloured();
  });
  function coloured(): void {
    for (const [index, button] of buttons.entries()) {
      const colour = colours.get(names[index] as string) as number;
      (button.firstChild as HTMLElement).style.background = colour === PAPER_COLOUR ? "#888888" : curveColour(colour, isDark());
    }
  }
  coloured();
  chosen();
}
