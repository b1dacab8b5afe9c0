// Finds sections of a long page: by words, and by verdict.

/** Lets the page's search field and box choose which sections are shown, with their links in its contents. */
export function find(): void {
  const field = document.querySelector<HTMLInputElement>("[data-find]");
  const box = document.querySelector<HTMLInputElement>("[data-only]");
  const told = document.querySelector<HTMLOutputElement>(".finder output");
  if (!field || !box || !told) return;
  const sections = [...document.querySelectorAll<HTMLElement>(field.dataset.find ?? "")].map((section) => ({
    section,
    link: document.querySelector(`nav a[href="#${section.id}"]`)?.closest("li") ?? null,
    // Without the names of charts, which come later and would be found again and again.
    text: section.textContent.toLowerCase(),
  }));
  const choose = (): void => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const { section, link, text } of sections) {
      const isWanted = !box.checked || !["holds", "no main claim"].includes(section.dataset.group ?? "");
      const isShown = isWanted && words.every((word) => text.includes(word));
      section.hidden = !isShown;
      if (link) link.hidden = !isShown;
      count += Number(isShown);
    }
    told.textContent = `${count} of ${sections.length}`;
  };
  field.addEventListener("input", choose);
  box.addEventListener("change", choose);
  choose();
}
