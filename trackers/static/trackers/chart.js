// The growth curve of one tweet. Which curves it has, and on which scale, is in the page's address.
(() => {
  const dashes = {
    views: [], likes: [9, 4], retweets: [3, 4], replies: [14, 4], quotes: [10, 3, 2, 3], bookmarks: [5, 5],
  };

  document.addEventListener("DOMContentLoaded", () => {
    const box = document.getElementById("chart");
    const metrics = box.dataset.metrics.split(" ");
    const lines = metrics.map((metric) => ({
      label: box.dataset[metric], colour: `--metric-${metric}`, dash: dashes[metric], shown: true,
      stepped: box.dataset.view !== "totals",
    }));
    const plot = new Plot(box, { x: "time", lines, log: box.dataset.scale === "log" });
    plot.zoomed = zoomButtons(document.querySelector(".chart .zoom"), plot);
    // Of the first curve alone: several would cover each other.
    const band = (shade) => shade && {
      xs: shade.times, low: shade.low, middle: shade.middle, high: shade.high, name: shade.name,
      colour: `--metric-${metrics[0]}`,
    };
    const load = () => {
      const points = Math.round(2 * (box.clientWidth || 600));
      plot.bring(`${box.dataset.series}&points=${points}`, (series) => plot.show({
        columns: [series.times, ...metrics.map((metric) => series.series[metric])],
        bands: [series.benchmark[metrics[0]], series.projection[metrics[0]]].filter(Boolean).map(band),
        marks: series.marks,
        span: series.span.length ? series.span : null,
      }));
    };
    load();
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
