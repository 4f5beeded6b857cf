// Keys: / search, j and k through the rows, Enter opens, t theme, r renew, ? help.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && event.target.matches("#q")) event.target.blur();
  if (event.target.closest("input, textarea, select, dialog")) return;
  const step = (by) => {
    const links = [...document.querySelectorAll("#rows a.text")];
    const at = links.indexOf(document.activeElement);
    const next = links[at < 0 ? 0 : Math.min(links.length - 1, Math.max(0, at + by))];
    if (!next) return;
    next.focus({ preventScroll: true });
    next.closest("tr").scrollIntoView({ block: "nearest" });
  };
  const acts = {
    "/": () => document.getElementById("q")?.focus(),
    j: () => step(1),
    k: () => step(-1),
    t: () => document.querySelector("[data-theme-button]").click(),
    r: () => document.dispatchEvent(new CustomEvent("renew")),
    "?": () => document.getElementById("help").showModal(),
  };
  const act = acts[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
