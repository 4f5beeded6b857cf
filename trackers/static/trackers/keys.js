// Keys: g and a letter for a page of the menu, / search, j and k through the rows, h and l through columns, . shows what is new, Enter opens, t theme, r renew, ? help.
// The letter of a page counts for so many milliseconds after g.
const LETTER_WITHIN = 1500;
let wentAt = -LETTER_WITHIN;

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && event.target.matches("#q")) event.target.blur();
  if (event.target.closest("input, textarea, select, dialog")) return;
  const step = (by) => {
    const focused = document.activeElement.closest("table.tweets");
    const table = focused ?? document.querySelector("table.tweets");
    const links = [...(table?.querySelectorAll("a.text") ?? [])];
    const at = links.indexOf(document.activeElement);
    const next = links[at < 0 ? 0 : Math.min(links.length - 1, Math.max(0, at + by))];
    if (!next) return;
    next.focus({ preventScroll: true });
    next.closest("tr").scrollIntoView({ block: "nearest" });
  };
  // To the same height in the next column.
  const cross = (by) => {
    const columns = [...document.querySelectorAll(".column")];
    const at = columns.findIndex((one) => one.contains(document.activeElement));
    const next = columns[at < 0 ? 0 : Math.min(columns.length - 1, Math.max(0, at + by))];
    if (!next) return;
    const links = [...next.querySelectorAll("a.text")];
    const top = next.querySelector(".timeline").getBoundingClientRect().top;
    const link = links.find((one) => one.getBoundingClientRect().top >= Math.max(top, 0)) ?? links[0];
    (link ?? next.querySelector("a"))?.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  const acts = {
    "/": () => document.getElementById("q")?.focus(),
    g: () => { wentAt = event.timeStamp; },
    j: () => step(1),
    k: () => step(-1),
    h: () => cross(-1),
    l: () => cross(1),
    ".": () => document.querySelector("a.news:not([hidden])")?.click(),
    t: () => document.querySelector("[data-theme-button]").click(),
    r: () => document.dispatchEvent(new CustomEvent("renew")),
    "?": () => document.getElementById("help").showModal(),
  };
  // Only the menu says which pages there are, so what a person may not see is not reached by a key.
  const page = document.querySelector(`nav [data-key="${CSS.escape(event.key)}"]`);
  if (event.timeStamp - wentAt < LETTER_WITHIN && event.key !== "g") {
    wentAt = -LETTER_WITHIN;
    if (page) {
      event.preventDefault();
      page.click();
    }
    return;
  }
  const act = acts[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
