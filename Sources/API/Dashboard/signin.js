// Asks for the token when the service requires one. The page keeps the token in its memory, or exchanges it for a cookie
// that no script can read, so that the browser stays signed in.

import { address, client, get, post, remove } from "./api.js";
import { byID, setText } from "./dom.js";
import { complain } from "./notices.js";
import { showCaller } from "./scopes.js";

/** @type {Promise<void> | null} */
let asking = null;
let isRequired = false;

/** Whether the service has asked this page for a token, or has recognised its cookie. */
export function needsToken() {
  return isRequired;
}

export async function prepareSignIn() {
  client.authorize = (refusal) => (asking ??= ask(refusal));
  byID("sign-out").addEventListener("click", signOut);
  await readCaller();
}

/** Reads again what the caller may do: another token may be in use, or the token may have another scope. */
export async function readCaller() {
  try {
    const caller = await get(address("sign-in"));
    note(caller.by !== "address");
    showCaller(caller);
  } catch {
    // The feed reports the error, and reads everything when the service answers.
  }
}

/** @param {unknown} refusal */
async function ask(refusal) {
  const dialog = byID("token-dialog");
  const error = byID("token-error");
  error.hidden = !refusal;
  setText(error, "The service does not accept this token. Its administrator can make another one.");
  // The page shows nothing without the token, so Escape does not close the dialog. A browser obeys the second one nevertheless.
  const stay = (/** @type {Event} */ event) => event.preventDefault();
  const reopen = () => dialog.showModal();
  dialog.addEventListener("cancel", stay);
  dialog.addEventListener("close", reopen);
  dialog.showModal();
  await submitted(byID("token-form"));
  dialog.removeEventListener("cancel", stay);
  dialog.removeEventListener("close", reopen);
  client.token = byID("token").value.trim();
  byID("token").value = "";
  asking = null;
  note(true);
  if (byID("token-stay").checked) await staySignedIn();
  readCaller();
}

/** Exchanges the token for a cookie. A refused token stays in memory: the next request asks for another one. */
async function staySignedIn() {
  const given = client.token;
  try {
    await post(address("sign-in"), { secure: location.protocol === "https:" });
    if (client.token === given) client.token = null;
  } catch (error) {
    complain(error);
  }
}

async function signOut() {
  client.token = null;
  try {
    await remove(address("sign-in"));
  } finally {
    // Remove all data from the page.
    location.reload();
  }
}

/** @param {boolean} hasSignedIn */
function note(hasSignedIn) {
  isRequired ||= hasSignedIn;
  byID("sign-out").hidden = !isRequired;
}

/** @param {HTMLElement} form */
function submitted(form) {
  return new Promise((resolve) => form.addEventListener("submit", resolve, { once: true }));
}
