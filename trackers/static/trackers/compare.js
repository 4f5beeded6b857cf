// Tweets by age on one chart, and the chart as a picture with its title and legend.
(() => {
  const dashes = [[], [9, 4], [3, 4], [14, 4], [10, 3, 2, 3], [5, 5], [2, 2], [16, 3, 3, 3]];
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // What stands in the table, in its order: the tweets, then the bands.
  const named = () =>
    [...document.querySelectorAll("[data-place]")].map((row) => ({
      place: Number(row.dataset.place), name: row.dataset.name,
    }));
  const colour = (place) => `--line-${place}`;
  const dash = (place) => dashes[(place - 1) % dashes.length];

  const picture = (plot, { title, about, names }) => {
    const dot = devicePixelRatio, pad = 20 * dot, line = 22 * dot;
    const drawn = plot.u.ctx.canvas;
    const canvas = document.createElement("canvas");
    canvas.width = drawn.width + 2 * pad;
    canvas.height = drawn.height + 3 * pad + line * (names.length + 2);
    const pen = canvas.getContext("2d");
    pen.fillStyle = style("--card");
    pen.fillRect(0, 0, canvas.width, canvas.height);
    let y = pad + line / 2;
    const write = (words, x, font, tint) => {
      pen.font = `${font} system-ui, sans-serif`;
      pen.fillStyle = style(tint);
      pen.fillText(words, x, y, canvas.width - x - pad);
      y += line;
    };
    write(title, pad, `600 ${17 * dot}px`, "--strong");
    write(about, pad, `${12 * dot}px`, "--soft");
    for (const { place, name } of names) {
      pen.strokeStyle = style(colour(place));
      pen.lineWidth = 2 * dot;
      pen.setLineDash(dash(place).map((part) => part * dot));
      pen.beginPath();
      pen.moveTo(pad, y - 4 * dot);
      pen.lineTo(pad + 36 * dot, y - 4 * dot);
      pen.stroke();
      write(name, pad + 46 * dot, `${13 * dot}px`, "--strong");
    }
    pen.drawImage(drawn, pad, y);
    return canvas;
  };

  const save = (canvas, name) =>
    canvas.toBlob((blob) => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });

  document.addEventListener("DOMContentLoaded", () => {
    const box = document.getElementById("chart");
    if (!box) return;
    const logScale = document.querySelector("[data-log]");
    const isLog = () => logScale.getAttribute("aria-pressed") === "true";
    const lines = named().map(({ place, name }) => ({
      label: name, colour: colour(place), dash: dash(place), scale: "counts", shown: true,
    }));
    const plot = new Plot(box, { x: "age", lines, log: isLog() });
    plot.zoomed = zoomButtons(document.querySelector(".chart .zoom"), plot);
    plot.bring(box.dataset.series, ({ tweets, bands }) => plot.show({
      columns: Plot.join([
        ...tweets.map(({ ages, values }) => [ages, values]), ...bands.map(({ ages, median }) => [ages, median]),
      ]),
      bands: bands.map(({ place, ages: xs, low, high }) => ({ xs, low, high, scale: "counts", colour: colour(place) })),
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
    document.querySelector("[data-picture]").addEventListener("click", (event) => {
      const { title, about } = event.currentTarget.dataset;
      if (plot.u) save(picture(plot, { title, about, names: named() }), "compare.png");
    });
  });
})();
