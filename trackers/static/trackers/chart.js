// The growth curve of one tweet: uPlot, wrapped only here so that it can be replaced.
(() => {
  const dashes = {
    impressions: [], likes: [9, 4], retweets: [3, 4], replies: [14, 4], quotes: [10, 3, 2, 3], bookmarks: [5, 5],
  };
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const number = new Intl.NumberFormat("en");
  let plot, data, box;

  const pressed = (metric) =>
    document.querySelector(`.toggle[data-metric="${metric}"]`).getAttribute("aria-pressed") === "true";
  const metrics = () => Object.keys(data.series);
  const column = (metric) => data.series[metric];

  const line = (metric) => ({
    label: document.querySelector(`.toggle[data-metric="${metric}"]`).textContent.trim(),
    // Views are so many more that the other curves would lie flat beside them.
    scale: metric === "impressions" ? "views" : "counts",
    show: pressed(metric),
    stroke: colour(`--metric-${metric}`),
    width: 2,
    dash: dashes[metric],
    spanGaps: false,
    points: { show: data.times.length < 60, size: 5, fill: colour(`--metric-${metric}`) },
    value: (_, value) => (value === null || value === undefined ? "–" : number.format(value)),
  });

  const axis = (more) => ({
    stroke: colour("--soft"),
    grid: { stroke: colour("--grid"), width: 1 },
    ticks: { show: false },
    font: "12px system-ui, sans-serif",
    ...more,
  });

  const shortened = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 });
  const counts = (_, values) => values.map((value) => (Number.isInteger(value) ? shortened.format(value) : ""));

  // UTC, 24 hours; the date where it changes.
  const times = (_, splits, _axis, _space, step) => {
    let day = "";
    return splits.map((at) => {
      const text = new Date(at * 1000).toISOString();
      const dated = text.slice(0, 10) !== day;
      day = text.slice(0, 10);
      if (step >= 86400) return day;
      const clock = text.slice(11, step < 60 ? 19 : 16);
      return dated ? `${clock}\n${day}` : clock;
    });
  };

  const draw = () => {
    // Before the old plot goes: an empty box need not have a width.
    const width = box.clientWidth;
    if (!width) return;
    if (plot) plot.destroy();
    const size = { width, height: Math.max(260, Math.min(420, width * 0.42)) };
    plot = new uPlot(
      {
        ...size,
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
        series: [
          { label: "UTC", value: (_, at) => (at === null || at === undefined ? "–" : new Date(at * 1000).toISOString().slice(0, 19).replace("T", " ")) },
          ...metrics().map(line),
        ],
        axes: [
          axis({ space: 90, values: times }),
          axis({ scale: "counts", values: counts, size: 56 }),
          axis({ scale: "views", values: counts, side: 1, size: 56, grid: { show: false } }),
        ],
        scales: { x: { time: true, range: around }, counts: { range: span }, views: { range: span } },
        cursor: { points: { size: 7 }, drag: { x: true, y: false } },
        legend: { live: true },
        hooks: { setScale: [(u, key) => { if (key === "x") box.dataset.seconds = u.scales.x.max - u.scales.x.min; }] },
      },
      [data.times, ...metrics().map(column)],
      box,
    );
    box.dataset.points = String(data.times.length);
    box.dataset.ready = "1";
  };

  // A first measurement alone stands in the middle of a minute; uPlot would give it years.
  function around(_, from, to) {
    const [first] = data.times;
    if (first === data.times[data.times.length - 1]) return [first - 30, first + 30];
    if (from === null || to === null || to - from >= 60) return [from, to];
    const room = (60 - (to - from)) / 2;
    return [from - room, to + room];
  }

  // Room above and below, and never a line of zero height.
  function span(_, low, high) {
    if (low === null || high === null) return [0, 1];
    const room = Math.max(1, (high - low) * 0.06);
    return [Math.max(0, low - room), high + room];
  }

  const load = async () => {
    const answer = await fetch(box.dataset.series, { headers: { Accept: "application/json" } });
    if (!answer.ok) return;
    const fresh = await answer.json();
    const known = data && data.times.length;
    data = fresh;
    if (plot && known) {
      plot.setData([data.times, ...metrics().map(column)]);
      box.dataset.points = String(data.times.length);
    } else {
      box.replaceChildren();
      box.toggleAttribute("data-empty", !data.times.length);
      if (data.times.length) draw();
      else box.dataset.ready = "1";
    }
  };

  // The address has what is shown, so that a range, a reload and a bookmark keep it.
  const keep = () => {
    const shown = [...document.querySelectorAll('.toggle[aria-pressed="true"]')].map((toggle) => toggle.dataset.metric);
    const address = (url) => {
      url.searchParams.set("metrics", shown.join(" "));
      return url;
    };
    history.replaceState(history.state, "", address(new URL(location.href)));
    for (const link of document.querySelectorAll(".chart .ranges a")) link.href = address(new URL(link.href));
  };

  document.addEventListener("DOMContentLoaded", () => {
    box = document.getElementById("chart");
    load();
    for (const toggle of document.querySelectorAll(".toggle")) {
      toggle.addEventListener("click", () => {
        const on = toggle.getAttribute("aria-pressed") !== "true";
        toggle.setAttribute("aria-pressed", String(on));
        if (plot) plot.setSeries(metrics().indexOf(toggle.dataset.metric) + 1, { show: on });
        keep();
      });
    }
    new ResizeObserver(() => {
      if (plot && Math.abs(plot.width - box.clientWidth) > 2) draw();
    }).observe(box);
    document.addEventListener("theme", () => plot && draw());
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
