// A page that could not be shown asks whether the server is ready, and then loads itself again.
(() => {
  const EVERY = 3000;
  const said = document.querySelector("[data-again]");
  said.textContent = said.dataset.words;

  const ask = async () => {
    try {
      const answer = await fetch(said.dataset.again, { cache: "no-store" });
      if (answer.ok) return location.reload();
    } catch {
      // The server is away, too.
    }
    setTimeout(ask, EVERY);
  };
  setTimeout(ask, EVERY);
})();
