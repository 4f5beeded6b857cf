// The page's clock: relative times every second, and a "tick" by which htmx asks for news.
(() => {
  const EVERY = 3000;
  // After a minute in which nothing changed (morph.js).
  const CALM_EVERY = 10000;
  // Seconds; words.py says why.
  const OVERDUE = 30;
  let offset = 0;
  let live = true;
  let last = Date.now();

  const lasting = (seconds) => {
    seconds = Math.max(0, Math.floor(seconds));
    if (seconds < 60) return `${seconds} s`;
    const units = [[86400, "d"], [3600, "h"], [60, "min"]];
    const place = units.findIndex(([size]) => seconds >= size);
    const [size, unit] = units[place];
    const said = `${Math.floor(seconds / size)} ${unit}`;
    const next = units[place + 1];
    const rest = next ? Math.floor((seconds % size) / next[0]) : 0;
    return rest ? `${said} ${rest} ${next[1]}` : said;
  };

  const tell = () => {
    const now = Date.now() + offset;
    for (const time of document.querySelectorAll("time[data-relative]")) {
      const seconds = (Date.parse(time.dateTime) - now) / 1000;
      // What happened may be a second ahead of this clock; what is planned is "now", and not late.
      const ahead = seconds > 0 && !("past" in time.dataset);
      const due = "ahead" in time.dataset;
      let words = ahead ? `in ${lasting(seconds)}` : `${lasting(-seconds)} ago`;
      if (!ahead && seconds > -1) words = "just now";
      if (due && seconds <= 0) words = seconds > -OVERDUE ? "now" : `due ${lasting(-seconds)} ago`;
      if (time.textContent !== words) time.textContent = words;
    }
    // On a wall screen; without scripts nothing there is of now.
    const clock = document.querySelector("[data-wall-clock]");
    if (clock) clock.textContent = `${window.Times.clock(now)} ${window.Times.offset(now)}`;
  };

  const tick = () => {
    last = Date.now();
    document.body.dispatchEvent(new CustomEvent("tick"));
  };

  document.addEventListener("DOMContentLoaded", () => {
    // The server's clock counts; the time the page took to arrive is ignored.
    offset = Date.parse(document.body.dataset.now) - Date.now() || 0;
    tell();
    // On a phone the menu is wider than the screen.
    const here = document.querySelector(".top nav > ul [aria-current]");
    if (here) {
      const menu = here.closest("ul");
      const [of, at] = [menu.getBoundingClientRect(), here.getBoundingClientRect()];
      menu.scrollLeft += at.left + at.width / 2 - (of.left + of.width / 2);
    }
    setInterval(() => {
      tell();
      const every = "calm" in document.body.dataset ? CALM_EVERY : EVERY;
      if (live && !document.hidden && Date.now() - last >= every) tick();
    }, 1000);
    const button = document.querySelector("[data-live]");
    button.addEventListener("click", () => {
      live = !live;
      button.setAttribute("aria-pressed", String(live));
      if (live) tick();
    });
    document.addEventListener("visibilitychange", () => {
      if (live && !document.hidden) tick();
    });
    document.addEventListener("renew", tick);
  });
  document.addEventListener("htmx:afterSettle", tell);
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.dataset.confirm) return;
    if (!confirm(form.dataset.confirm)) return event.preventDefault();
    // Without scripts the server asks, where this is not said.
    if (!form.elements.sure) form.append(Object.assign(document.createElement("input"), { type: "hidden", name: "sure", value: "yes" }));
  });
})();
