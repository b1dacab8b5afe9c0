// The charts of a page that was written to be mailed: everything is in the page, nothing is fetched.

import frame from "uplot/dist/uPlot.min.css?inline";
import style from "./charts.css?inline";
import type { Page } from "./data.ts";
import { find } from "./find.ts";
import { show } from "./group.ts";

const sheet = new CSSStyleSheet();
sheet.replaceSync(frame + style);
document.adoptedStyleSheets.push(sheet);
document.documentElement.classList.add("live");

find();
const data = document.getElementById("charts-data");
if (data) {
  const page = JSON.parse(data.textContent ?? "") as Page;
  for (const place of document.querySelectorAll<HTMLElement>("[data-charts]")) {
    const group = page.groups[place.dataset.charts ?? ""];
    if (group) show(group, page.columns, place);
  }
}
