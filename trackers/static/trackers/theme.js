// Light, dark, or as the system is set. Loaded before anything is painted.
(() => {
  const names = ["system", "light", "dark"];
  const root = document.documentElement;
  const chosen = () => {
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
  const next = () => {
    const name = names[(names.indexOf(chosen()) + 1) % names.length];
    try {
      localStorage.theme = name;
    } catch {
      // Without storage the choice lasts as long as the page.
    }
    show(name);
  };
  show(chosen());
  document.addEventListener("DOMContentLoaded", () => show(chosen()));
  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-theme-button]")) next();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => show(chosen()));
})();
