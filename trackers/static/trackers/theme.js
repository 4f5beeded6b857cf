// Light, dark, or as the system is set. Loaded before anything is painted. It is kept with the account; by the browser
// only for who is not signed in, or has never chosen.
(() => {
  const names = ["system", "light", "dark"];
  const root = document.documentElement;
  const chosen = () => {
    if (names.includes(root.dataset.keptTheme)) return root.dataset.keptTheme;
    try {
      return names.includes(localStorage.theme) ? localStorage.theme : "system";
    } catch {
      return "system";
    }
  };
  const show = (name) => {
    if (name === "system") root.removeAttribute("data-theme");
    else root.dataset.theme = name;
    for (const label of document.querySelectorAll("[data-theme-name]")) label.textContent = name;
    document.dispatchEvent(new CustomEvent("theme"));
  };
  const next = (form) => {
    const name = names[(names.indexOf(chosen()) + 1) % names.length];
    root.dataset.keptTheme = name;
    const body = new FormData(form);
    body.set("theme", name);
    // Where the server does not answer, the choice lasts as long as the page.
    fetch(form.action, { method: "POST", body, keepalive: true }).catch(() => {});
    show(name);
  };
  show(chosen());
  document.addEventListener("DOMContentLoaded", () => show(chosen()));
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-theme-button]");
    if (button) next(button.form);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => show(chosen()));
})();
