// The token: asked for when the service wants one, kept in this tab.

import { keepToken, onUnauthorized, token } from "./api.js";
import { byID, setText } from "./dom.js";

let asking = null;

export function prepareToken() {
  onUnauthorized((refusal) => (asking ??= ask(refusal)));
  byID("forget-token").hidden = !token();
  byID("forget-token").addEventListener("click", () => {
    keepToken(null);
    // Nothing of what was shown stays.
    location.reload();
  });
}

async function ask(refusal) {
  const dialog = byID("token-dialog");
  const error = byID("token-error");
  error.hidden = !refusal;
  setText(error, "The service does not take this token. Look it up where fetchd is started, and paste all of it.");
  // Without it there is nothing to see: Escape leads nowhere.
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
