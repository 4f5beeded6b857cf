// What is moving now. The stream says that something happened, and then this asks for the rows: one
// request at a time, from where the shown ones end, so no row is ever missing or shown twice.
document.addEventListener("DOMContentLoaded", () => {
  const page = document.getElementById("moving");
  const events = document.getElementById("events");
  const said = page.querySelector("[data-state]");
  const button = page.querySelector("[data-pause]");
  const whole = document.querySelector("[data-live]");
  const most = Number(page.dataset.most);
  const LIVE = "Live: changes appear as they happen.";
  let stream = null;
  let paused = false;
  let asking = false;
  let more = false;
  let failed = false;
  let stays = 0;
  let lost = 0;
  let retry = 0;

  const tell = (words) => {
    if (said.textContent !== words) said.textContent = words;
  };
  // The cursor for the next rows.
  const after = () => events.querySelector("[data-after]").dataset.after;

  const bring = async () => {
    if (asking) {
      more = true;
      return;
    }
    asking = true;
    try {
      do {
        more = false;
        const answer = await fetch(`${page.dataset.rows}&after=${after()}`);
        if (!answer.ok || answer.redirected) throw new Error(String(answer.status));
        show(await answer.text());
      } while (more && !paused);
      if (failed && stream?.readyState === EventSource.OPEN) tell(LIVE);
      failed = false;
    } catch {
      failed = true;
      tell("The latest changes could not be loaded. Trying again …");
      setTimeout(bring, 5000);
    } finally {
      asking = false;
    }
  };

  const show = (text) => {
    const rows = document.createElement("template");
    rows.innerHTML = text;
    const fresh = [...rows.content.querySelectorAll("[data-event]")]
      .filter((row) => !document.getElementById(row.id));
    for (const row of fresh) row.classList.add("arrived");
    events.querySelector("[data-after]").replaceWith(rows.content.querySelector("[data-after]"));
    events.prepend(...fresh);
    for (const row of [...events.querySelectorAll("[data-event]")].slice(most)) row.remove();
    if (!fresh.length) return;
    page.querySelector("[data-nothing]").hidden = true;
    page.querySelector(".scroll").hidden = false;
    document.dispatchEvent(new CustomEvent("htmx:afterSettle"));
  };

  const close = () => {
    stream?.close();
    stream = null;
    for (const timer of [stays, lost, retry]) clearTimeout(timer);
  };

  const open = () => {
    close();
    if (paused || document.hidden) return;
    stream = new EventSource(`${page.dataset.stream}&after=${after()}`);
    stream.addEventListener("open", () => {
      clearTimeout(lost);
      // Unless it says at once that it will not stay.
      stays = setTimeout(() => tell(LIVE), 300);
    });
    for (const topic of new URL(stream.url).searchParams.get("topics").split(",")) {
      stream.addEventListener(topic, bring);
    }
    stream.addEventListener("stream-busy", () => {
      clearTimeout(stays);
      tell("Many people are watching, so this page updates every 5 seconds.");
    });
    stream.addEventListener("stream-gap", () => {
      tell("Some changes were missed while this page was away.");
      bring();
    });
    stream.addEventListener("error", () => {
      clearTimeout(stays);
      clearTimeout(lost);
      // A stream ends by itself every half minute, and the browser opens the next one.
      lost = setTimeout(() => tell("The connection is lost. Trying again …"), 8000);
      if (stream?.readyState === EventSource.CLOSED) {
        tell("The server does not answer as it should. Trying again every 5 seconds. "
          + "If this does not help, reload the page: you may have to log in again.");
        clearTimeout(lost);
        retry = setTimeout(open, 5000);
      }
    });
  };

  const pause = (wanted) => {
    paused = wanted;
    button.textContent = paused ? "Resume" : "Pause";
    button.setAttribute("aria-pressed", String(paused));
    if (paused) {
      close();
      tell("Paused. Resume to see what happened meanwhile.");
    } else {
      tell("Connecting …");
      open();
      bring();
    }
  };

  button.hidden = false;
  button.addEventListener("click", () => whole.click());
  // The head's own button: it pauses and resumes everything that the page refreshes.
  whole.addEventListener("click", () => pause(whole.getAttribute("aria-pressed") !== "true"));
  document.addEventListener("renew", bring);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) close();
    else if (!paused) pause(false);
  });
  addEventListener("pagehide", close);
  pause(false);
});
