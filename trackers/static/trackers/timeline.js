// A home or a column ([data-timeline]): keeps the rows in view up to date; announces new ones in a
// bar, and inserts them when a person presses it. Its requests go one after the other (hx-sync), so
// that no row is lost between two responses.
(() => {
  const MARGIN = 300;
  const MOST = 100;

  const rows = (timeline) => [...timeline.querySelectorAll("tr[data-id]")];
  const find = (timeline, id) => timeline.querySelector(`tr[data-id="${id}"]`);
  const words = (text) => text.split(" ").filter(Boolean);

  const inSight = (timeline) => {
    const frame = timeline.getBoundingClientRect();
    if (frame.right <= 0 || frame.left >= innerWidth) return null;
    const shown = rows(timeline).filter((row) => {
      const { top, bottom } = row.getBoundingClientRect();
      return bottom > -MARGIN && top < innerHeight + MARGIN;
    });
    return shown.slice(0, MOST);
  };

  document.addEventListener("htmx:configRequest", (event) => {
    const { elt, parameters } = event.detail;
    if (!("asks" in elt.dataset)) return;
    const timeline = elt.closest("[data-timeline]");
    parameters.clock = timeline.dataset.clock;
    parameters.top = timeline.dataset.top;
    if (elt.matches("a")) return;
    // A column swiped out of view sends no requests.
    const shown = inSight(timeline);
    if (!shown) event.preventDefault();
    else parameters.ids = shown.map((row) => row.dataset.id).join(",");
  });

  // The bar counts new tweets that are not on the page yet; some may have come by scrolling.
  const count = (timeline, bar) => {
    if (!("asks" in bar.dataset)) return;
    const missing = (ids) => words(ids).filter((id) => !find(timeline, id)).length;
    const late = missing(bar.dataset.late);
    bar.querySelector("[data-new]").textContent = missing(bar.dataset.ids);
    if (late) bar.querySelector("[data-late-count]").textContent = late;
    else bar.querySelector("[data-of-late]")?.remove();
    bar.hidden = !missing(bar.dataset.ids);
  };

  const tell = (timeline, news) => {
    const line = timeline.querySelector(".news-line");
    const bar = news.querySelector(".news");
    if (bar) count(timeline, bar);
    const old = line.querySelector(".news");
    if (!bar || bar.hidden) old?.remove();
    else if (!old) line.replaceChildren(bar);
    else if (("asks" in old.dataset) !== ("asks" in bar.dataset)) old.replaceWith(bar);
    else {
      // Keep the same element: replacing it would lose a press that waits for its turn.
      Object.assign(old.dataset, bar.dataset);
      if (old.textContent !== bar.textContent) old.replaceChildren(...bar.childNodes);
    }
    if (!bar || !bar.isConnected) return [];
    // At once: htmx itself would do so a little later, and a press until then would load the page
    // anew.
    htmx.process(bar);
    return [bar];
  };

  const renew = (timeline, row) => {
    const old = find(timeline, row.dataset.id);
    if (!old || old.dataset.version === row.dataset.version) return;
    // Only the bar may have said that it came late.
    const late = old.querySelector(".badge.late");
    if (late && !row.querySelector(".badge.late")) row.querySelector(".by").append(" ", late);
    Idiomorph.morph(old, row);
  };

  const leave = (timeline, id) => {
    const row = find(timeline, id);
    if (!row) return;
    const next = row.contains(document.activeElement) && (row.nextElementSibling ?? row.previousElementSibling);
    row.remove();
    if (next) next.querySelector("a")?.focus({ preventScroll: true });
  };

  // Before the first older row. Anything older than all rows comes by scrolling, if there is more.
  const putIn = (timeline, row) => {
    if (find(timeline, row.dataset.id)) return false;
    const id = BigInt(row.dataset.id);
    const older = rows(timeline).find((one) => BigInt(one.dataset.id) < id);
    const further = timeline.querySelector("tr.further");
    if (!older && further) return false;
    const body = timeline.querySelector("table.tweets > tbody");
    body.insertBefore(row, older ?? null);
    row.classList.add("arrived");
    return true;
  };

  htmx.defineExtension("timeline", {
    handleSwap: (style, target, fragment) => {
      if (style !== "timeline") return false;
      const timeline = target.closest("[data-timeline]");
      const put = fragment.querySelector("[data-put-in]");
      if (!put) {
        for (const id of words(fragment.querySelector("[data-gone]").dataset.gone)) leave(timeline, id);
        for (const row of [...fragment.querySelectorAll("[data-now] > tr")]) renew(timeline, row);
        return tell(timeline, fragment.querySelector("[data-news]"));
      }
      const all = [...put.querySelectorAll("tr")];
      const unknown = all.filter((row) => !find(timeline, row.dataset.id));
      const fresh = unknown.filter((row) => putIn(timeline, row));
      timeline.dataset.clock = fragment.querySelector("[data-clock]").dataset.clock;
      const first = rows(timeline)[0];
      if (first) timeline.dataset.top = first.dataset.id;
      const below = unknown.length - fresh.length;
      const line = timeline.querySelector(".news-line");
      line.textContent = below ? `${below} further down, in ${below === 1 ? "its" : "their"} place.` : "";
      if (fresh.length) {
        fresh[0].scrollIntoView({ block: "center" });
        fresh[0].querySelector("a.text").focus({ preventScroll: true });
      }
      return fresh;
    },
  });

  // Back in the browser, the page should be scrolled down as before: it loads with only its first
  // rows, so ask for more until the tweet is there that was first in view.
  const MOST_PAGES = 20;
  const place = `place ${location.pathname}${location.search}`;
  const alone = () => {
    const found = document.querySelectorAll("[data-timeline]");
    return found.length === 1 ? found[0] : null;
  };
  addEventListener("pagehide", () => {
    const timeline = alone();
    const row = timeline && rows(timeline).find((one) => one.getBoundingClientRect().bottom > 0);
    if (!row) return;
    try {
      const { top } = row.getBoundingClientRect();
      sessionStorage[place] = JSON.stringify({ id: row.dataset.id, top });
    } catch {
      // Without storage the page begins at its top.
    }
  });

  const kept = () => {
    if (performance.getEntriesByType("navigation")[0]?.type !== "back_forward") return null;
    try {
      return JSON.parse(sessionStorage[place] ?? "null");
    } catch {
      return null;
    }
  };
  document.addEventListener("DOMContentLoaded", () => {
    const timeline = alone();
    const before = timeline && kept();
    if (!before) return;
    let left = MOST_PAGES;
    let asked = null;
    history.scrollRestoration = "manual";
    // That tweet, or the next older one if it was deleted meanwhile.
    const arrive = () => {
      const row = rows(timeline).find((one) => BigInt(one.dataset.id) <= BigInt(before.id));
      const further = timeline.querySelector("[data-further]");
      if (row) scrollBy(0, row.getBoundingClientRect().top - before.top);
      // Each new row triggers a settle of its own; press the link only once.
      else if (further && further === asked) return;
      else if (further && left-- > 0) {
        asked = further;
        further.click();
        return;
      }
      timeline.removeEventListener("htmx:afterSettle", arrive);
      history.scrollRestoration = "auto";
    };
    timeline.addEventListener("htmx:afterSettle", arrive);
    arrive();
  });
})();
