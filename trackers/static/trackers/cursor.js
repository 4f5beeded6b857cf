// Values by keyboard: with the chart focused, arrows go from one measurement to the next, Home and End to
// the first and last, and Escape leaves it. What stands there is read as the value of a slider.
(() => {
  window.cursorKeys = (over, plot) => {
    const label = document.getElementById("told") ? { "aria-describedby": "told" } : {};
    const attributes = { tabindex: "0", role: "slider", "aria-label": "Values on the chart", "aria-valuemin": "0", ...label };
    for (const [name, value] of Object.entries(attributes)) over.setAttribute(name, value);
    const last = () => plot.data.columns[0].length - 1;
    let at = last();

    const say = () => {
      const [xs, ...columns] = plot.data.columns;
      const values = plot.lines.map(({ label: name }, place) => `${name} ${columns[place][at] ?? "not known"}`);
      over.setAttribute("aria-valuemax", String(last()));
      over.setAttribute("aria-valuenow", String(at));
      over.setAttribute("aria-valuetext", `${plot.x.words(xs[at])}: ${values.join(", ")}`);
    };
    // Where there is a gap nothing can be read.
    const known = (place) => plot.data.columns.slice(1).some((values) => typeof values[place] === "number");
    const move = (from, by) => {
      let place = from;
      while (place >= 0 && place <= last() && !known(place)) place += by;
      if (place < 0 || place > last()) return;
      at = place;
      const { u } = plot;
      const first = u.data.slice(1).findIndex((values) => typeof values[at] === "number");
      u.setCursor({ left: u.valToPos(u.data[0][at], "x"), top: u.valToPos(u.data[first + 1][at], "counts") });
      say();
    };
    const acts = {
      ArrowRight: () => move(at + 1, 1), ArrowLeft: () => move(at - 1, -1),
      ArrowUp: () => move(at + 1, 1), ArrowDown: () => move(at - 1, -1),
      PageUp: () => move(Math.min(last(), at + 10), 1), PageDown: () => move(Math.max(0, at - 10), -1),
      Home: () => move(0, 1), End: () => move(last(), -1),
      Escape: () => { over.blur(); plot.u.setCursor({ left: -10, top: -10 }); },
    };
    say();
    over.addEventListener("focus", () => over.matches(":focus-visible") && move(at, -1));
    over.addEventListener("keydown", (event) => {
      if (!acts[event.key] || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      acts[event.key]();
    });
  };
})();
