// Whether the server answers: a page that looks live while nobody answers it says so, and says when
// that is over. Every tick brings a question; where the page has none of its own, it is a small one.
(() => {
  // Two ticks. Who has not answered by then may never do so.
  const PATIENCE = 6000;
  const SHOWN_FOR = 6000;
  // The status of a server whose database is away (tweetwatch/http/failures.py), and its label.
  const AWAY = 503;
  const NO_DATABASE = "No database";
  const asked = new Map();
  // What is wrong, in a word or two for the button; empty while all is well.
  let wrong = "";
  let failedAt = 0;
  let answeredAt = Date.now();

  const notice = (words, mood) => {
    const old = document.querySelector("[data-trouble]");
    const shown = old ?? document.createElement("p");
    shown.className = `notice ${mood}`.trim();
    shown.dataset.trouble = "";
    shown.setAttribute("role", "status");
    if (shown.textContent !== words) shown.textContent = words;
    if (!old) document.getElementById("main").append(shown);
    return shown;
  };
  const button = () => document.querySelector("[data-live]");
  const isLive = () => button().getAttribute("aria-pressed") === "true";
  const again = () => (isLive() ? "This page keeps asking" : "This page is not live: press r to ask again");

  const asOf = () => `As of ${window.Times.clock(answeredAt)} ${window.Times.offset(answeredAt)}.`;
  const show = () => {
    button().toggleAttribute("data-wrong", Boolean(wrong));
    document.querySelector("[data-live-name]").textContent = wrong || "Live";
    // What looked well then may not be so now.
    for (const old of document.querySelectorAll("[data-as-of]")) {
      old.hidden = !wrong;
      old.textContent = wrong ? asOf() : "";
    }
  };
  const fails = (label, words) => {
    wrong = label;
    failedAt = Date.now();
    show();
    notice(words, "warn");
  };
  const nobody = () =>
    fails("No answer", `The server does not answer. ${again()}. You may have to repeat what you did last.`);
  const errs = (status) =>
    status === AWAY
      ? fails(NO_DATABASE, `The server cannot use its database right now. ${again()}. You may have to repeat what you did last.`)
      : fails("Error", `The server answered with an error (${status}). ${again()}. If this stays, reload the page.`);
  // An answer to what was asked before the failure says nothing about the server now.
  const answers = (askedAt) => {
    if (wrong && askedAt < failedAt) return;
    answeredAt = Date.now();
    if (!wrong) return;
    wrong = "";
    show();
    const shown = notice("The server answers again.", "");
    setTimeout(() => { if (!wrong) shown.remove(); }, SHOWN_FOR);
  };

  const heard = (request, ok, status) => {
    const askedAt = asked.get(request);
    asked.delete(request);
    if (ok) answers(askedAt);
    else if (status) errs(status);
    else nobody();
  };
  // A request that htmx gives up itself, for a newer one or because its element is gone, is no
  // failure of the server's.
  document.addEventListener("htmx:beforeSend", (event) => asked.set(event.detail.xhr, Date.now()));
  document.addEventListener("htmx:sendAbort", (event) => asked.delete(event.detail.xhr));
  document.addEventListener("htmx:sendError", (event) => heard(event.detail.xhr, false, 0));
  document.addEventListener("htmx:responseError", (event) => heard(event.detail.xhr, false, event.detail.xhr.status));
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.successful) heard(event.detail.xhr, true);
    else asked.delete(event.detail.xhr);
  });

  const probe = async () => {
    const mark = {};
    asked.set(mark, Date.now());
    // Without its database the server still answers the small question.
    const { answers, ready } = document.body.dataset;
    try {
      const answer = await fetch(wrong === NO_DATABASE ? ready : answers, { cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
      heard(mark, answer.ok, answer.status);
    } catch {
      heard(mark, false, 0);
    }
  };
  document.addEventListener("DOMContentLoaded", () => {
    document.body.addEventListener("tick", () => {
      const since = Date.now() - PATIENCE;
      for (const [request, at] of asked) {
        if (at > since) continue;
        asked.delete(request);
        // Requests that wait for a lost database are slow.
        if (wrong !== NO_DATABASE) nobody();
      }
      // After htmx had its turn.
      setTimeout(() => { if (!asked.size) probe(); }, 0);
    });
  });
})();
