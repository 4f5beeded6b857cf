// What the page asks for again is morphed into what it shows (idiomorph, `hx-swap="morph:…"`): an
// element stays the one that it was, and so do scroll, selection and focus. A notice that appears is
// read out once, by one region that is always there.
(() => {
  const CALM_AFTER = 60000;

  // The clock of the page counts on in these by itself; and either token will do.
  const stays = (old, fresh) =>
    (old.matches("time[data-relative]") && old.dateTime === fresh.dateTime && old.title === fresh.title) ||
    old.matches("input[name=csrfmiddlewaretoken]");
  const { callbacks } = Idiomorph.defaults;
  callbacks.beforeNodeMorphed = (old, fresh) => {
    if (old.nodeType !== Node.ELEMENT_NODE) return true;
    if (stays(old, fresh)) return false;
    // A figure that moved is lit for a moment.
    const figure = old.matches("data") && old.closest("[data-metric]");
    if (figure && old.getAttribute("value") !== fresh.getAttribute("value")) {
      fresh.classList.add("moved");
      for (const light of old.getAnimations()) light.currentTime = 0;
    }
    return true;
  };
  // What a person opened stays open, and what they ticked stays ticked.
  callbacks.beforeAttributeUpdated = (name, element) =>
    !(name === "open" && element.matches("details")) && !(name === "checked" && element.matches("[type=checkbox]"));

  // What a tick brings has a digest. It goes along with the next question, and 304 is the answer when
  // nothing else is to be shown.
  const digests = new WeakMap();
  const isTick = (event) => event?.type === "tick";
  let changed = Date.now();
  document.addEventListener("htmx:configRequest", (event) => {
    const { elt, headers, triggeringEvent } = event.detail;
    const digest = digests.get(elt);
    if (digest && isTick(triggeringEvent)) headers["If-None-Match"] = digest;
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.xhr.status === 304) event.detail.shouldSwap = false;
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    const { elt, xhr, requestConfig } = event.detail;
    const digest = xhr.status === 200 && xhr.getResponseHeader("ETag");
    if (digest) digests.set(elt, digest);
    if (!isTick(requestConfig?.triggeringEvent)) return;
    if (xhr.status === 200) changed = Date.now();
    // Then the page asks less often (live.js).
    document.body.toggleAttribute("data-calm", Date.now() - changed > CALM_AFTER);
  });

  // Without the times in it, which count on.
  const textOf = (notice) => {
    const copy = notice.cloneNode(true);
    for (const time of copy.querySelectorAll("time")) time.remove();
    return copy.textContent;
  };
  const notices = () => [...document.querySelectorAll("main .notice:not([role])")];
  let heard = new Set();
  const readOut = () => {
    const fresh = notices().filter((one) => !heard.has(textOf(one)));
    heard = new Set(notices().map(textOf));
    const words = fresh.map((one) => one.textContent.trim()).join(" ");
    if (words) document.getElementById("read-out").textContent = words;
  };
  document.addEventListener("DOMContentLoaded", () => {
    heard = new Set(notices().map(textOf));
  });
  document.addEventListener("htmx:afterSettle", readOut);
})();
