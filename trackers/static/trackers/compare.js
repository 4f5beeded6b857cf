// Tweets by age on one chart.
(() => {
  const dashes = [[], [9, 4], [3, 4], [14, 4], [10, 3, 2, 3], [5, 5], [2, 2], [16, 3, 3, 3]];

  // What stands in the table, in its order: the tweets, then the bands.
  const named = () =>
    [...document.querySelectorAll("[data-place]")].map((row) => ({
      place: Number(row.dataset.place), name: row.dataset.name,
    }));
  const colour = (place) => `--line-${place}`;
  const dash = (place) => dashes[(place - 1) % dashes.length];

  document.addEventListener("DOMContentLoaded", () => {
    const box = document.getElementById("chart");
    if (!box) return;
    const logScale = document.querySelector("[data-log]");
    const isLog = () => logScale.getAttribute("aria-pressed") === "true";
    const lines = named().map(({ place, name }) => ({
      label: name, colour: colour(place), dash: dash(place), shown: true,
    }));
    const plot = new Plot(box, { x: "age", lines, log: isLog() });
    plot.zoomed = zoomButtons(document.querySelector(".chart .zoom"), plot);
    plot.bring(box.dataset.series, ({ tweets, bands }) => plot.show({
      columns: Plot.join([
        ...tweets.map(({ ages, values }) => [ages, values]), ...bands.map(({ ages, median }) => [ages, median]),
      ]),
      bands: bands.map(({ place, ages: xs, low, high }) => ({ xs, low, high, colour: colour(place) })),
      marks: [],
    }));
    logScale.addEventListener("click", () => {
      logScale.setAttribute("aria-pressed", String(!isLog()));
      plot.setLog(isLog());
      const scaled = (url) => {
        if (isLog()) url.searchParams.set("scale", "log");
        else url.searchParams.delete("scale");
        // As the server writes it: commas as they are.
        url.search = url.search.replaceAll("%2C", ",");
        return url;
      };
      history.replaceState(history.state, "", scaled(new URL(location.href)));
      for (const link of document.querySelectorAll(".chart .ranges a")) link.href = scaled(new URL(link.href));
    });
  });
})();
