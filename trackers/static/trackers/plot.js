// A chart: lines with gaps, bands, named marks, and a zoom that new data leaves alone.
// uPlot, wrapped only here so that it can be replaced.
(() => {
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const number = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
  const shortened = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 2 });
  // Posts are counted in whole numbers, and so are the steps of their axes.
  const STEPS = Array.from({ length: 40 }, (_, place) => [1, 2, 5][place % 3] * 10 ** Math.floor(place / 3));
  // Each is narrower than those drawn before it: where two lie on each other, the one below stays in
  // sight on both sides.
  const WIDTHS = [4.5, 2.75, 2.25, 2, 1.75, 1.5];
  const ready = (value, words) => (value === null || value === undefined ? "–" : words(value));

  // The date where it changes.
  const times = (_, splits, _axis, _space, step) => {
    let day = "";
    return splits.map((at) => {
      const of = window.Times.day(at * 1000);
      const dated = of !== day;
      day = of;
      if (step >= 86400) return day;
      const clock = window.Times.clock(at * 1000, step < 60);
      return dated ? `${clock}\n${day}` : clock;
    });
  };
  const minutes = (value) => {
    const whole = Math.round(value);
    if (whole < 60) return `${whole} min`;
    const [big, small, name, rest] = whole < 1440 ? [60, 1, "h", "min"] : [1440, 60, "d", "h"];
    const more = Math.floor((whole % big) / small);
    return `${Math.floor(whole / big)} ${name}${more ? ` ${more} ${rest}` : ""}`;
  };
  const X = {
    time: {
      label: window.Times.zone, least: 60,
      words: (at) => `${window.Times.day(at * 1000)} ${window.Times.clock(at * 1000, true)}`,
      axis: { space: 90, values: times },
    },
    age: {
      label: "Age", least: 5, words: minutes,
      axis: {
        space: 70, values: (_, splits) => splits.map(minutes),
        incrs: [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10080, 20160, 40320],
      },
    },
  };

  // Nothing is drawn outside of the axes.
  const inside = (u, draw) => {
    const { left, top, width, height } = u.bbox;
    u.ctx.save();
    u.ctx.beginPath();
    u.ctx.rect(left, top, width, height);
    u.ctx.clip();
    draw(u.ctx);
    u.ctx.restore();
  };

  // `lines`: {label, colour, dash, shown, stepped}, in the order of the columns after the
  // first. `colour` is the name of a CSS variable, so that a change of theme only draws anew.
  window.Plot = class {
    constructor(box, { x, lines, log = false, zoomed = () => {} }) {
      Object.assign(this, { box, x: X[x], isTime: x === "time", lines, log, zoomed });
      this.data = { columns: [[]], bands: [], marks: [] };
      this.asked = 0;
      new ResizeObserver(() => {
        if (this.u && Math.abs(this.u.width - box.clientWidth) > 2) this.draw();
      }).observe(box);
      document.addEventListener("theme", () => this.u && this.draw());
    }

    // Columns over all xs, of curves that each have their own: undefined where one has no point, and
    // null up to its next one where it has a gap (2: NULL_EXPAND).
    static join(curves) {
      return curves.length ? uPlot.join(curves, curves.map(() => [1, 2])) : [[]];
    }

    get empty() {
      return !this.data.columns[0].length;
    }

    // Uses the JSON of an address. Until there is any an empty box says so, and the page's next tick
    // tries again. Only the newest address counts.
    async bring(address, use) {
      this.asked += 1;
      const mine = this.asked;
      let found = null;
      try {
        const answer = await fetch(address, { headers: { Accept: "application/json" } });
        if (answer.ok && !answer.redirected) found = await answer.json();
      } catch {
        // That the server does not answer is said above.
      }
      if (mine !== this.asked) return;
      if (found) {
        use(found);
        return;
      }
      if (!this.u) this.box.textContent = "The chart could not be loaded. Trying again …";
      const again = () => mine === this.asked && this.bring(address, use);
      document.body.addEventListener("tick", again, { once: true });
    }

    // {columns, bands: [{xs, low, high, colour, middle, name}], marks: [{at, number, name}], span}
    // `span`: the ends of the axis, if they are not those of the columns.
    show(data) {
      this.since = performance.now();
      this.data = data;
      this.box.toggleAttribute("data-empty", this.empty);
      if (this.empty) this.box.dataset.ready = "1";
      else if (this.u) this.renew();
      else this.draw();
      this.box.dataset.points = String(data.columns[0].length);
    }

    renew() {
      const kept = this.window;
      this.seen = kept ?? this.extent();
      this.u.setData(this.data.columns, !kept);
      if (kept) this.zoom(...kept);
    }

    draw() {
      // Before the old plot goes: an empty box need not have a width.
      const width = this.box.clientWidth;
      if (!width || this.empty) return;
      const kept = this.window;
      if (this.u) this.u.destroy();
      // The hooks of the new one wait until it is made.
      this.u = null;
      this.seen = kept ?? this.extent();
      this.box.replaceChildren();
      this.u = new uPlot(this.options(width), this.data.columns, this.box);
      if (kept) this.zoom(...kept);
      window.touchZoom(this.u.over, this);
      window.cursorKeys(this.u.over, this);
    }

    options(width) {
      const scale = () => ({ distr: this.log ? 3 : 1, range: (_, low, high) => this.span(low, high) });
      return {
        width,
        // Whole on the screen at once, from its highest figure to its times.
        height: Math.max(260, Math.min(420, width * 0.42, innerHeight * 0.4)),
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), window.Times.zone),
        series: [
          { label: this.x.label, value: (_, at, place, index) => ready(this.told(at, place, index), this.x.words) },
          ...this.lines.map((one, place) => this.line(one, (this.isTime && WIDTHS[place]) || 2)),
        ],
        axes: [
          this.axis(this.x.axis),
          this.axis({ scale: "counts", values: this.counts, incrs: STEPS, size: 56 }),
        ],
        scales: { x: { time: this.isTime, range: (_, from, to) => this.data.span ?? this.around(from, to) }, counts: scale() },
        cursor: {
          points: { size: 7 },
          dataIdx: (u, place, index) => (place && !this.isTime ? this.latest(u.data[place], index) : index),
          drag: { x: true, y: false, setScale: false },
          bind: { dblclick: () => () => this.reset() },
        },
        legend: { live: true },
        hooks: {
          setSelect: [(u) => this.selected(u)],
          setScale: [(_, key) => key === "x" && this.moved()],
          drawAxes: [() => this.shade()],
          draw: [() => this.mark(), () => this.tell()],
        },
      };
    }

    // Measurements between two gaps: no line goes through them.
    alone(values) {
      const known = [...values.keys()].filter((index) => values[index] !== undefined);
      const isNumber = (at) => typeof values[known[at]] === "number";
      return known.filter((_, at) => isNumber(at) && !isNumber(at - 1) && !isNumber(at + 1));
    }

    // Of a curve by age what was measured last by then; nothing in a gap.
    latest(values, index) {
      let at = index;
      while (at > 0 && values[at] === undefined) at -= 1;
      return typeof values[at] === "number" ? at : index;
    }

    // While nothing is pointed at, the legend has the newest figures. Curves by age end at different ages.
    told(value, place, index) {
      return this.isTime && (index === null || index === undefined) ? this.data.columns[place].at(-1) : value;
    }

    line({ label, colour, dash, shown, stepped, beside = () => "" }, width) {
      return {
        label, dash, scale: "counts",
        // Bars: how fast it grew between two measurements, or on a day.
        fill: stepped ? `${style(colour)}40` : undefined,
        show: shown,
        stroke: style(colour),
        width,
        spanGaps: false,
        paths: stepped ? uPlot.paths.stepped({ align: 1 }) : undefined,
        points: {
          show: !stepped && this.data.columns[0].length < 60, size: 4 + width, fill: style(colour),
          filter: (u, place, show) => (show || this.isTime ? null : this.alone(u.data[place])),
        },
        value: (u, value, place, index) => ready(this.told(value, place, index), (known) => number.format(known) + beside(known, index)),
      };
    }

    axis(more) {
      return {
        stroke: style("--soft"), grid: { stroke: style("--grid"), width: 1 }, ticks: { show: false },
        font: "12px system-ui, sans-serif", ...more,
      };
    }

    counts = (_, values) => values.map((value) => (value !== null && Number.isInteger(value) ? shortened.format(value) : ""));

    // A first measurement alone stands in the middle of a minute; uPlot would give it years.
    around(from, to) {
      const { least } = this.x;
      const [xs] = this.data.columns;
      const [first, last] = [xs[0], xs[xs.length - 1]];
      if (first === last) return [first - least / 2, first + least / 2];
      if (from === null || to === null) return [from, to];
      if (to - from >= least) return [from, to];
      const room = (least - (to - from)) / 2;
      return [from - room, to + room];
    }

    extent() {
      const [xs] = this.data.columns;
      return this.data.span ?? this.around(xs[0], xs[xs.length - 1]);
    }

    // Room above and below, for the bands too, and never a line of zero height.
    span(low, high) {
      for (const { xs, low: lows, high: highs } of this.data.bands) {
        const [min, max] = this.seen;
        xs.forEach((at, place) => {
          if (at < min || at > max) return;
          low = low === null ? lows[place] : Math.min(low, lows[place]);
          high = high === null ? highs[place] : Math.max(high, highs[place]);
        });
      }
      // A bar's length is its value.
      if (this.lines[0].stepped && !this.log && low > 0) low = 0;
      if (low === null || high === null) return this.log ? [1, 10] : [0, 1];
      if (this.log) {
        const least = low > 0 ? low : 1;
        return uPlot.rangeLog(least, Math.max(high, least * 10), 10, false);
      }
      const room = Math.max(1, (high - low) * 0.06);
      return [low < 0 ? low - room : Math.max(0, low - room), high + room];
    }

    setLog(on) {
      this.log = on;
      if (this.u) this.draw();
    }

    // Zooming

    visible() {
      const { min, max } = this.u.scales.x;
      return [min, max];
    }

    zoom(from, to) {
      const [first, last] = this.extent();
      const length = Math.min(Math.max(to - from, this.x.least), last - first);
      const min = Math.min(Math.max(from, first), last - length);
      // Before the scales are set: the bands in it decide about the other one.
      this.seen = [min, min + length];
      this.u.setScale("x", { min, max: min + length });
    }

    // What was dragged across.
    selected(u) {
      const { left, width } = u.select;
      if (!width) return;
      this.zoom(u.posToVal(left, "x"), u.posToVal(left + width, "x"));
      u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    }

    // By a share of what is visible, around its middle or beside it.
    zoomBy(share, aside = 0) {
      const [from, to] = this.visible();
      const middle = (from + to) / 2 + aside * (to - from);
      this.zoom(middle - (share * (to - from)) / 2, middle + (share * (to - from)) / 2);
    }

    reset() {
      this.zoom(...this.extent());
    }

    moved() {
      const { min, max } = this.u?.scales.x ?? {};
      if (min === undefined || min === null) return;
      const [first, last] = this.extent();
      const hair = (last - first) / 1e6;
      this.window = min > first + hair || max < last - hair ? [min, max] : null;
      this.box.dataset.seconds = max - min;
      this.box.toggleAttribute("data-zoomed", Boolean(this.window));
      this.zoomed(Boolean(this.window));
    }

    // Drawing

    shade() {
      const { u } = this;
      if (!u) return;
      inside(u, (pen) => {
        for (const { xs, low, high, middle = [], name, colour } of this.data.bands) {
          const { min } = u.scales.counts;
          const at = (value, place) => [u.valToPos(xs[place], "x", true), u.valToPos(this.log ? Math.max(value, min) : value, "counts", true)];
          pen.beginPath();
          high.forEach((value, place) => pen.lineTo(...at(value, place)));
          for (let place = low.length - 1; place >= 0; place--) pen.lineTo(...at(low[place], place));
          pen.globalAlpha = 0.16;
          pen.fillStyle = style(colour);
          pen.fill();
          pen.globalAlpha = 1;
          pen.strokeStyle = style(colour);
          pen.lineWidth = devicePixelRatio;
          pen.setLineDash([2 * devicePixelRatio, 4 * devicePixelRatio]);
          pen.beginPath();
          middle.forEach((value, place) => pen.lineTo(...at(value, place)));
          pen.stroke();
          this.name(pen, name, at(high.at(-1), high.length - 1));
        }
      });
    }

    // What a band is, at its end.
    name(pen, words = "", [right, top]) {
      const { left, top: above, width } = this.u.bbox, dot = devicePixelRatio;
      const fits = top - 17 * dot > above;
      pen.font = `${11 * dot}px system-ui, sans-serif`;
      pen.fillStyle = style("--soft");
      pen.textAlign = "right";
      pen.textBaseline = "alphabetic";
      pen.fillText(words, Math.min(right, left + width) - 4 * dot, fits ? top - 5 * dot : Math.max(top, above) + 13 * dot);
    }

    mark() {
      const { u } = this;
      if (!u) return;
      inside(u, (pen) => {
        const dot = devicePixelRatio;
        pen.strokeStyle = pen.fillStyle = style("--soft");
        pen.font = `${11 * dot}px system-ui, sans-serif`;
        pen.setLineDash([2 * dot, 4 * dot]);
        pen.textAlign = "left";
        pen.textBaseline = "alphabetic";
        // Names that would touch stand below one another; where no row is free the number is enough.
        const free = [0, 0, 0, 0];
        for (const { at, number, name = "" } of this.data.marks) {
          const place = Math.round(u.valToPos(at, "x", true));
          pen.beginPath();
          pen.moveTo(place, u.bbox.top);
          pen.lineTo(place, u.bbox.top + u.bbox.height);
          pen.stroke();
          const short = name.length > 28 ? `${name.slice(0, 27)}…` : name;
          for (const words of [`${number || ""} ${short}`.trim(), String(number || "")]) {
            const length = pen.measureText(words).width + 6 * dot;
            const from = place + length > u.bbox.left + u.bbox.width ? place - length : place + 3 * dot;
            const row = free.findIndex((until) => until <= from);
            if (row < 0 || from < u.bbox.left) continue;
            free[row] = from + length;
            pen.fillText(words, from, u.bbox.top + (12 + 13 * row) * dot);
            break;
          }
        }
      });
    }

    tell() {
      if (this.since) this.box.dataset.took = String(Math.round(performance.now() - this.since));
      this.since = null;
      this.box.dataset.ready = "1";
    }
  };

  // The buttons beside a chart: [data-zoom] with in, out, earlier, later or reset. Those of use only
  // while it is zoomed are hidden until then.
  window.zoomButtons = (tools, plot) => {
    const acts = {
      in: () => plot.zoomBy(0.5), out: () => plot.zoomBy(2), reset: () => plot.reset(),
      earlier: () => plot.zoomBy(1, -0.5), later: () => plot.zoomBy(1, 0.5),
    };
    for (const button of tools.querySelectorAll("[data-zoom]")) {
      button.addEventListener("click", () => plot.u && acts[button.dataset.zoom]());
    }
    const later = [...tools.querySelectorAll("[data-zoom]:not([data-zoom=in])")];
    return (zoomed) => {
      const loses = !zoomed && later.includes(document.activeElement);
      for (const button of later) button.hidden = !zoomed;
      if (loses) tools.querySelector("[data-zoom=in]").focus();
    };
  };
})();
