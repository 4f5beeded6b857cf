// How many rows are ticked. All that they do works without this: the form takes the boxes along.
(() => {
  const boxes = () => [...document.querySelectorAll("#ticked .tick input")];
  const count = () => {
    const told = document.querySelector("[data-ticked]");
    if (!told) return;
    const ticked = boxes().filter((box) => box.checked).length;
    const words = ticked ? `${ticked} ticked` : "None ticked";
    told.hidden = false;
    if (told.textContent !== words) told.textContent = words;
  };
  document.addEventListener("change", (event) => { if (event.target.closest(".tick")) count(); });
  document.addEventListener("DOMContentLoaded", count);
  // A row that left the list took its tick along; a search brings other rows.
  document.addEventListener("htmx:afterSettle", count);
})();
