// The menu behind the person closes like one: by Escape, a click elsewhere, or when the focus leaves.
(() => {
  const menu = () => document.querySelector("[data-menu][open]");
  document.addEventListener("keydown", (event) => {
    const open = menu();
    if (event.key !== "Escape" || !open || event.target.closest("dialog")) return;
    open.open = false;
    open.querySelector("summary").focus();
  });
  document.addEventListener("click", (event) => {
    const open = menu();
    if (!open) return;
    // What is said in it stays readable: the theme's name changes with each click.
    if (!open.contains(event.target) || event.target.closest("[data-help]")) open.open = false;
  });
  document.addEventListener("focusin", (event) => {
    const open = menu();
    if (open && !open.contains(event.target)) open.open = false;
  });
})();
