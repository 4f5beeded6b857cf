// What django-allauth's scripts leave out: buttons for passkeys appear where the browser has them,
// and a page says when one was not used.
document.addEventListener("DOMContentLoaded", () => {
  if (!window.PublicKeyCredential) return;
  for (const button of document.querySelectorAll("[id$=-passkey]")) button.hidden = false;
});
document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  for (const line of document.querySelectorAll("[data-passkey-fault]")) line.hidden = false;
});
