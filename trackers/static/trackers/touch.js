// Two fingers zoom a chart, and one moves it while it is zoomed; up and down still scroll the page.
window.touchZoom = (over, plot) => {
  const fingers = new Map();
  let begun;
  const place = (event) => event.clientX - over.getBoundingClientRect().left;
  const begin = () => {
    begun = { at: [...fingers.values()], seen: plot.visible() };
  };
  const lift = (event) => {
    if (fingers.delete(event.pointerId)) begin();
  };
  over.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" || fingers.size === 2) return;
    fingers.set(event.pointerId, place(event));
    begin();
  });
  over.addEventListener("pointermove", (event) => {
    if (!fingers.has(event.pointerId)) return;
    fingers.set(event.pointerId, place(event));
    const width = over.clientWidth;
    const [from, to] = begun.seen;
    const under = (at) => from + (at / width) * (to - from);
    const [first, second] = begun.at;
    const [now, other] = fingers.values();
    if (second === undefined) {
      if (plot.window) plot.zoom(from + under(first) - under(now), to + under(first) - under(now));
      return;
    }
    // What was under each finger stays under it.
    if (Math.abs(other - now) < 10 || Math.abs(second - first) < 10) return;
    const each = (under(second) - under(first)) / (other - now);
    if (each > 0) plot.zoom(under(first) - now * each, under(first) + (width - now) * each);
  });
  for (const end of ["pointerup", "pointercancel"]) over.addEventListener(end, lift);
};
