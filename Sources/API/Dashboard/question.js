// Asks the user for confirmation before an action that cannot be undone.

import { byID } from "./dom.js";

/**
 * @param {string} heading @param {string} words @param {string} yes
 * @param {string | null} option the label of a checkbox, or null for none.
 * @returns null for no; otherwise {option: whether the checkbox was checked}.
 */
export function ask(heading, words, yes, option = null) {
  const dialog = byID("question-dialog");
  const box = byID("question-option");
  byID("question-heading").textContent = heading;
  byID("question-words").textContent = words;
  byID("question-yes").textContent = yes;
  box.hidden = option === null;
  box.querySelector("span").textContent = option ?? "";
  box.querySelector("input").checked = false;
  // Escape does not change the return value.
  dialog.returnValue = "no";
  dialog.showModal();
  byID("question-no").focus();
  return new Promise((resolve) => {
    const answer = () => resolve(dialog.returnValue === "yes" ? { option: box.querySelector("input").checked } : null);
    dialog.addEventListener("close", answer, { once: true });
  });
}
