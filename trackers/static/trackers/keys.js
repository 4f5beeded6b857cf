// Keys, as the list behind ? has them: g and a letter for a page of the menu, / search, j and k through
// the rows, x ticks one, h and l through columns, . shows what is new, Enter opens, t theme, r renew. A browser can
// turn them off: whoever speaks to it, or is easily one key off, would set them going unawares.
(() => {
  // The letter of a page counts for so many milliseconds after g.
  const LETTER_WITHIN = 1500;
  const TABLES = "table.tweets, table.board";
  let wentAt = -LETTER_WITHIN;
  let off = false;
  try {
    off = localStorage.keys === "off";
  } catch {
    // Without storage they are on.
  }

  const help = () => {
    const dialog = document.getElementById("help");
    dialog.showModal();
    // Not the switch, which a key would set at once.
    dialog.querySelector("button").focus();
  };
  const step = (by) => {
    const focused = document.activeElement.closest(TABLES);
    const table = focused ?? document.querySelector(TABLES);
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
  // Where a page has no search, everything is meant.
  const search = () => {
    const field = document.getElementById("q") ?? document.querySelector("main input[type=search]");
    if (field) field.focus();
    else window.Palette.open();
  };
  const acts = {
    "/": search,
    g: (event) => { wentAt = event.timeStamp; },
    j: () => step(1),
    k: () => step(-1),
    x: () => document.activeElement.closest("tr")?.querySelector(".tick input")?.click(),
    h: () => cross(-1),
    l: () => cross(1),
    ".": () => document.querySelector("a.news:not([hidden])")?.click(),
    t: () => document.querySelector("[data-theme-button]")?.click(),
    r: () => document.dispatchEvent(new CustomEvent("renew")),
    "?": help,
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && event.target.matches("#q")) event.target.blur();
    if (off || event.target.closest("input, textarea, select, dialog")) return;
    let act = acts[event.key];
    if (event.timeStamp - wentAt < LETTER_WITHIN && event.key !== "g") {
      wentAt = -LETTER_WITHIN;
      // The menu, and the list of keys, say which pages there are: no key leads where a person may
      // not go.
      const page = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
      act = page && (() => page.click());
    }
    if (!act) return;
    event.preventDefault();
    act(event);
  });

  document.addEventListener("DOMContentLoaded", () => {
    const uses = document.querySelector("[data-keys]");
    uses.checked = !off;
    uses.addEventListener("change", () => {
      off = !uses.checked;
      try {
        localStorage.keys = off ? "off" : "on";
      } catch {
        // Without storage the choice lasts as long as the page.
      }
    });
    document.querySelector("[data-help]")?.addEventListener("click", help);
    // What an address names is not to be folded.
    const unfold = () => {
      const named = document.getElementById(location.hash.slice(1));
      if (named?.matches("details")) named.open = true;
    };
    unfold();
    addEventListener("hashchange", unfold);
  });
})();
