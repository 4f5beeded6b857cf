// hx-swap="rows": children that carry an id and a data-version are replaced only when their
// version changed, so that focus, selection and scroll stay where they are.
htmx.defineExtension("rows", {
  isInlineSwap: (style) => style === "rows",
  handleSwap: (style, target, fragment) => {
    if (style !== "rows") return false;
    const fresh = [];
    let place = target.firstElementChild;
    for (const child of [...fragment.children].filter((one) => one.dataset.version)) {
      const old = document.getElementById(child.id);
      const same = old && old.dataset.version === child.dataset.version;
      const shown = same ? old : child;
      if (old && !same) {
        mark(old, child);
        const focused = old.contains(document.activeElement) && document.activeElement;
        const again = focused && focused.id && child.querySelector(`#${CSS.escape(focused.id)}`);
        if (old === place) place = old.nextElementSibling;
        old.remove();
        target.insertBefore(child, place);
        if (again) again.focus({ preventScroll: true });
      } else if (shown === place) {
        place = place.nextElementSibling;
      } else {
        target.insertBefore(shown, place);
      }
      if (!same) fresh.push(child);
    }
    while (place) {
      const gone = place;
      place = place.nextElementSibling;
      gone.remove();
    }
    return fresh;
  },
});

// Highlights a figure that moved, for a moment.
function mark(old, fresh) {
  for (const figure of fresh.querySelectorAll("[data-metric] data")) {
    const metric = figure.closest("[data-metric]").dataset.metric;
    const before = old.querySelector(`[data-metric="${metric}"] data`);
    if (before && before.value !== figure.value) figure.classList.add("moved");
  }
}

// Out-of-band content is left alone if it has not changed.
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const { fragment, target } = event.detail;
  if (fragment.textContent === target.textContent) event.detail.shouldSwap = false;
});
