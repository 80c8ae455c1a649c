// Asks for the token when the service requires it, and keeps it in this tab.

import { keepToken, onUnauthorized, token } from "./api.js";
import { byID, setText } from "./dom.js";

let asking = null;

export function prepareToken() {
  onUnauthorized((refusal) => (asking ??= ask(refusal)));
  byID("forget-token").hidden = !token();
  byID("forget-token").addEventListener("click", () => {
    keepToken(null);
    // Remove all data from the page.
    location.reload();
  });
}

async function ask(refusal) {
  const dialog = byID("token-dialog");
  const error = byID("token-error");
  error.hidden = !refusal;
  setText(error, "The service does not accept this token. Copy FETCHD_TOKEN from the configuration of fetchd.");
  // The page shows nothing without the token, so Escape does not close the dialog.
  const stay = (event) => event.preventDefault();
  dialog.addEventListener("cancel", stay);
  dialog.showModal();
  await submitted(byID("token-form"));
  dialog.removeEventListener("cancel", stay);
  keepToken(byID("token").value.trim());
  byID("token").value = "";
  byID("forget-token").hidden = false;
  asking = null;
}

function submitted(form) {
  return new Promise((resolve) => form.addEventListener("submit", resolve, { once: true }));
}
