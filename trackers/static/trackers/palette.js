// The search over any page: ⌘K, Ctrl+K, / where the page has no search of its own, or the field in the
// menu. The server finds (the page of the same search); here are the keys. The focus moves from the field to
// what is found and back; a dialog holds it, and gives it back to where it was.
(() => {
  const dialog = () => document.getElementById("palette");
  const field = () => document.getElementById("palette-typed");
  const found = () => [...document.querySelectorAll("#palette-found .find-one")];
  // Enter came before the answer to what was typed.
  let follows = false;

  const open = (typed = "") => {
    if (!dialog() || dialog().open || document.querySelector("dialog[open]")) return;
    follows = false;
    dialog().showModal();
    field().value = typed;
    field().focus();
    htmx.trigger(field(), "palette");
  };
  // Where nothing had the focus before, the field would keep it, unseen, and the next key would be its own.
  const leave = () => {
    if (dialog().contains(document.activeElement)) document.activeElement.blur();
  };
  const shut = () => {
    dialog().close();
    // The event of it comes later than a key may.
    leave();
  };
  const isAnswered = () => {
    const typed = field().value.trim().replace(/\s+/g, " ");
    return document.querySelector("#palette-found .found")?.dataset.typed === typed;
  };
  const followFirst = () => {
    follows = false;
    const first = found()[0];
    if (first) first.click();
    else field().form.submit();
  };
  const step = (by) => {
    const all = [field(), ...found()];
    const at = all.indexOf(document.activeElement);
    const next = all[(at + by + all.length) % all.length];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  };

  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() === "k" && (event.metaKey || event.ctrlKey) && !event.altKey && !event.shiftKey) {
      event.preventDefault();
      if (dialog()?.open) shut();
      else open();
      return;
    }
    if (!dialog()?.open || event.isComposing) return;
    if (event.key === "Escape") {
      event.preventDefault();
      shut();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      step(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key.length === 1 && event.key !== " " && !event.metaKey && !event.ctrlKey && !event.altKey) {
      // Whoever goes on typing means the field.
      field().focus();
    }
  });
  document.addEventListener("DOMContentLoaded", () => {
    if (!dialog()) return;
    field().form.addEventListener("submit", (event) => {
      event.preventDefault();
      follows = true;
      if (isAnswered()) followFirst();
    });
    document.addEventListener("htmx:afterSettle", (event) => {
      if (event.target.id !== "palette-found") return;
      const count = found().length;
      document.getElementById("palette-said").textContent =
        `${count} found${count ? `, the first: ${found()[0].querySelector("bdi").textContent}` : ""}`;
      if (follows && isAnswered()) followFirst();
    });
    dialog().addEventListener("close", leave);
    // A click beside it.
    dialog().addEventListener("click", (event) => { if (event.target === dialog()) shut(); });
    const menu = document.getElementById("find");
    if (!menu) return;
    const key = menu.form.querySelector("[data-mac]");
    if (navigator.platform.startsWith("Mac")) key.textContent = key.dataset.mac;
    menu.addEventListener("click", () => open(menu.value));
    menu.addEventListener("input", () => {
      const typed = menu.value;
      menu.value = "";
      open(typed);
    });
  });
  window.Palette = { open };
})();
