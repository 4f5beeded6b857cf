// hx-swap="rows": children that carry an id and a data-version are morphed when their version
// changed, and otherwise left alone, so that focus, selection and scroll stay where they are.
htmx.defineExtension("rows", {
  isInlineSwap: (style) => style === "rows",
  handleSwap: (style, target, fragment) => {
    if (style !== "rows") return false;
    const wanted = [...fragment.children].filter((one) => one.dataset.version);
    const ids = new Set(wanted.map((one) => one.id));
    // First: who is in nobody's way is not moved, and a row that is moved loses the focus.
    for (const one of [...target.children]) if (!ids.has(one.id)) one.remove();
    const fresh = [];
    let place = target.firstElementChild;
    for (const child of wanted) {
      const old = document.getElementById(child.id);
      const shown = old ?? child;
      if (old && old.dataset.version !== child.dataset.version) Idiomorph.morph(old, child);
      if (shown === place) place = place.nextElementSibling;
      else target.insertBefore(shown, place);
      if (!old) fresh.push(child);
    }
    return fresh;
  },
});

// Out-of-band content is left alone if it has not changed.
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const { fragment, target } = event.detail;
  if (fragment.textContent === target.textContent) event.detail.shouldSwap = false;
});
