// The growth curve of one tweet. Which curves it has, and on which scale, is in the page's address.
(() => {
  const dashes = {
    views: [], likes: [9, 4], retweets: [3, 4], replies: [14, 4], quotes: [10, 3, 2, 3], bookmarks: [5, 5],
  };

  const number = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });

  // "usually 1,200 · 7.9×", as the score says it (trackers/scores/rule.py, words.py).
  const compared = (count, usual, at, minimum) => {
    const next = usual ? usual.times.findIndex((time) => time >= at) : -1;
    if (next < 0 || (next === 0 && usual.times[0] > at)) return "";
    const [from, to] = [Math.max(0, next - 1), next];
    const share = from === to ? 0 : (at - usual.times[from]) / (usual.times[to] - usual.times[from]);
    const expected = usual.middle[from] + share * (usual.middle[to] - usual.middle[from]);
    const score = expected < minimum ? count / minimum
      : count >= expected ? count / expected
      : count ? -expected / count : -2 * expected;
    const digits = Math.abs(score) >= 99.95 ? 0 : 1;
    const words = Math.abs(score) < 1.2 ? "as usual" : `${score < 0 ? "−" : ""}${Math.abs(score).toFixed(digits)}×`;
    return ` · usually ${number.format(expected)} · ${words}`;
  };

  document.addEventListener("DOMContentLoaded", () => {
    const box = document.getElementById("chart");
    const metrics = box.dataset.metrics.split(" ");
    const lines = metrics.map((metric) => ({
      label: box.dataset[metric], colour: `--metric-${metric}`, dash: dashes[metric], shown: true,
      stepped: box.dataset.view !== "totals",
    }));
    let drawn;
    lines[0].beside = (value, place) =>
      compared(value, drawn.benchmark[metrics[0]], drawn.times[place ?? drawn.times.length - 1], drawn.minimum);
    const plot = new Plot(box, { x: "time", lines, log: box.dataset.scale === "log" });
    plot.zoomed = zoomButtons(document.querySelector(".chart .zoom"), plot);
    // Of the first curve alone: several would cover each other.
    const band = (shade) => shade && {
      xs: shade.times, low: shade.low, middle: shade.middle, high: shade.high, name: shade.name,
      colour: `--metric-${metrics[0]}`,
    };
    const load = () => {
      const points = Math.round(2 * (box.clientWidth || 600));
      plot.bring(`${box.dataset.series}&points=${points}`, (series) => {
        drawn = series;
        plot.show({
          columns: [series.times, ...metrics.map((metric) => series.series[metric])],
          bands: [series.benchmark[metrics[0]], series.projection[metrics[0]]].filter(Boolean).map(band),
          marks: series.marks,
          span: series.span.length ? series.span : null,
        });
      });
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
