// The page's clock: relative times every second, and a "tick" by which htmx asks for news. A page
// whose server does not answer, or errs, says so until it answers again.
(() => {
  const EVERY = 3000;
  // After a minute in which nothing changed (morph.js).
  const CALM_EVERY = 10000;
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
      const due = time.closest(".next");
      let words = seconds > 0 ? `in ${lasting(seconds)}` : `${lasting(-seconds)} ago`;
      if (due && seconds <= 0) words = "now";
      if (time.textContent !== words) time.textContent = words;
    }
  };

  const trouble = (words) => {
    const old = document.querySelector("[data-trouble]");
    if (!words) {
      old?.remove();
      return;
    }
    const notice = old ?? document.createElement("p");
    notice.className = "notice warn";
    notice.dataset.trouble = "";
    notice.setAttribute("role", "status");
    if (notice.textContent !== words) notice.textContent = words;
    if (!old) document.getElementById("main").append(notice);
  };
  const again = () =>
    live ? "This page keeps asking" : "This page is not live: press r to ask again";
  document.addEventListener("htmx:sendError", () => trouble(
    `The server does not answer. ${again()}. Once this notice is gone, repeat what you did last.`));
  document.addEventListener("htmx:responseError", (event) => trouble(
    `The server answered with an error (${event.detail.xhr.status}). ${again()}. If this stays, reload the page.`));
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.successful) trouble("");
  });

  const tick = () => {
    last = Date.now();
    document.body.dispatchEvent(new CustomEvent("tick"));
  };

  document.addEventListener("DOMContentLoaded", () => {
    // The server's clock counts; what the page took to arrive is neglected.
    offset = Date.parse(document.body.dataset.now) - Date.now() || 0;
    tell();
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
    const question = event.target.dataset.confirm;
    if (question && !confirm(question)) event.preventDefault();
  });
})();
