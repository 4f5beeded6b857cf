// Asks the browser to take messages, once its person has pressed the button: never by itself.
(() => {
  const form = document.querySelector("form[data-push]");
  if (!form) return;
  const say = (text) => { form.querySelector("[role=status]").textContent = text; };
  const bytes = (text) => {
    const plain = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
    return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
  };
  if (!window.isSecureContext) {
    say("Browsers take messages from pages with HTTPS only, and this one has none.");
    return;
  }
  if (!("serviceWorker" in navigator && "PushManager" in window)) {
    say("This browser takes no messages. On an iPhone or iPad, add this page to the home screen first.");
    return;
  }
  form.querySelector("fieldset").disabled = false;

  const subscribe = async () => {
    if (await Notification.requestPermission() !== "granted") {
      say("The browser does not allow it. Allow notifications for this site in its settings, then try again.");
      return;
    }
    await navigator.serviceWorker.register(form.dataset.worker);
    const asked = await fetch(form.dataset.push, { method: "POST", body: new FormData(form) });
    const { key } = await asked.json();
    const { pushManager } = await navigator.serviceWorker.ready;
    const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(key) });
    const { endpoint, keys } = subscription.toJSON();
    for (const [name, value] of Object.entries({ endpoint, ...keys })) form.elements[name].value = value;
    form.submit();
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    subscribe().catch((error) => say(`The browser could not ask its push service: ${error.message}`));
  });
})();
