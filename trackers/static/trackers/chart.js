// The growth curve of one tweet, its curves chosen by the buttons above it.
(() => {
  const dashes = {
    views: [], likes: [9, 4], retweets: [3, 4], replies: [14, 4], quotes: [10, 3, 2, 3], bookmarks: [5, 5],
  };
  let plot, box, toggles, fresh;

  const isPressed = (button) => button.getAttribute("aria-pressed") === "true";
  const press = (button, on) => button.setAttribute("aria-pressed", String(on));
  const scale = (metric) => (metric === "views" ? "views" : "counts");

  // Views are so many more that the other curves would lie flat beside them.
  const lines = (view) =>
    toggles.map((toggle) => ({
      label: toggle.textContent.trim(),
      colour: `--metric-${toggle.dataset.metric}`,
      dash: dashes[toggle.dataset.metric],
      scale: scale(toggle.dataset.metric),
      shown: isPressed(toggle),
      stepped: view !== "totals",
    }));

  // What is usual for the first curve that is on; several bands would cover each other.
  const bands = () => {
    const button = document.querySelector("[data-benchmark]");
    const first = toggles.find(isPressed)?.dataset.metric;
    const band = fresh.benchmark[first];
    button?.toggleAttribute("hidden", !Object.keys(fresh.benchmark).length);
    if (!band || !button || !isPressed(button)) return [];
    return [{ xs: band.times, low: band.low, high: band.high, scale: scale(first), colour: `--metric-${first}` }];
  };

  const show = () => {
    plot.show({
      columns: [fresh.times, ...toggles.map((toggle) => fresh.series[toggle.dataset.metric])],
      bands: bands(),
      marks: fresh.marks,
    });
  };

  const load = () => {
    const points = Math.round(2 * (box.clientWidth || 600));
    plot.bring(`${box.dataset.series}&points=${points}`, (series) => {
      fresh = series;
      show();
    });
  };

  // The address has what is shown, so that a range, a reload and a bookmark keep it.
  const keep = () => {
    const shown = toggles.filter(isPressed).map((toggle) => toggle.dataset.metric);
    const log = isPressed(document.querySelector("[data-log]"));
    const address = (url) => {
      url.searchParams.set("metrics", shown.join(" "));
      if (log) url.searchParams.set("scale", "log");
      else url.searchParams.delete("scale");
      return url;
    };
    history.replaceState(history.state, "", address(new URL(location.href)));
    for (const link of document.querySelectorAll(".chart .ranges a")) link.href = address(new URL(link.href));
  };

  document.addEventListener("DOMContentLoaded", () => {
    box = document.getElementById("chart");
    toggles = [...document.querySelectorAll(".toggle[data-metric]")];
    const logScale = document.querySelector("[data-log]");
    plot = new Plot(box, { x: "time", lines: lines(box.dataset.view), log: isPressed(logScale) });
    plot.zoomed = zoomButtons(document.querySelector(".chart .zoom"), plot);
    load();
    toggles.forEach((toggle, place) => {
      toggle.addEventListener("click", () => {
        press(toggle, !isPressed(toggle));
        plot.setShown(place, isPressed(toggle));
        if (fresh) show();
        keep();
      });
    });
    document.querySelector("[data-benchmark]")?.addEventListener("click", (event) => {
      press(event.currentTarget, !isPressed(event.currentTarget));
      if (fresh) show();
    });
    logScale.addEventListener("click", () => {
      press(logScale, !isPressed(logScale));
      plot.setLog(isPressed(logScale));
      keep();
    });
    // Only when another measurement has changed the figures above.
    let version = document.getElementById("now-inner")?.dataset.version;
    document.addEventListener("htmx:afterSettle", () => {
      const now = document.getElementById("now-inner")?.dataset.version;
      if (now && now !== version) {
        version = now;
        load();
      }
    });
  });
})();
