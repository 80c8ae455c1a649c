// A question that is to be answered before something is done that cannot be undone.

import { byID } from "./dom.js";

/**
 * @param option a box to tick, where there is a choice.
 * @returns null for no, else {option: whether the box was ticked}.
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
  // Escape leaves what was there before.
  dialog.returnValue = "no";
  dialog.showModal();
  byID("question-no").focus();
  return new Promise((resolve) => {
    const answer = () => resolve(dialog.returnValue === "yes" ? { option: box.querySelector("input").checked } : null);
    dialog.addEventListener("close", answer, { once: true });
  });
}
