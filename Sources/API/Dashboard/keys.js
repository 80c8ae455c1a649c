// Keys of one letter, for the whole page. The list of downloads has keys of its own (rowkeys.js).

import { byID, closeByButtons } from "./dom.js";
import { mayUse } from "./scopes.js";
import { showView } from "./views.js";

/** Milliseconds in which the second key follows `g`. */
const patience = 1500;
/** @type {Record<string, string>} */
const views = { d: "downloads", s: "sessions", w: "webhooks", e: "settings" };
/** @type {Record<string, string[]>} */
const actions = { p: ["pause"], r: ["resume", "retry"], x: ["cancel"] };

/**
 * @typedef {{ add: () => void, act: (action: string, id: string | null) => void }} KeyListener `act` on the selected downloads, or on the
 *   one of the row that has the focus.
 */

/** @param {KeyListener} on */
export function prepareKeys(on) {
  const dialog = byID("keys-dialog");
  closeByButtons(dialog);
  let wentAt = 0;
  /** @type {Record<string, () => void>} */
  const press = {
    "/": () => {
      showView("downloads");
      byID("filters").elements.text.focus();
    },
    n: () => mayUse("jobs") && on.add(),
    "?": () => dialog.showModal(),
    g: () => (wentAt = Date.now()),
    j: () => step(1),
    k: () => step(-1),
  };
  document.addEventListener("keydown", (/** @type {any} */ event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isBusy(event.target)) return;
    const isSecond = Date.now() - wentAt < patience;
    wentAt = 0;
    const act = isSecond && views[event.key] ? () => showView(views[event.key]) : (press[event.key] ?? ofDownloads(event, on));
    if (!act) return;
    event.preventDefault();
    act();
  });
}

/**
 * Keys belong to a field or a dialog that is in use, and the user can turn these off.
 * @param {Element} target
 */
function isBusy(target) {
  const isField = target.closest("input:not([type=checkbox]), select, textarea");
  return !byID("keys-on").checked || document.querySelector("dialog[open]") || isField;
}

/** @param {any} event @param {KeyListener} on */
function ofDownloads(event, on) {
  const wanted = actions[event.key];
  if (!wanted || document.body.dataset.view !== "downloads" || !mayUse("jobs")) return null;
  const id = event.target.closest("#job-rows tr")?.dataset.job ?? null;
  return () => wanted.forEach((/** @type {string} */ action) => on.act(action, id));
}

/**
 * Moves the focus to the next or the former row; from elsewhere, to the first one.
 * @param {number} by
 */
function step(by) {
  const rows = [...byID("job-rows").querySelectorAll("[data-job]")];
  const present = rows.indexOf(document.activeElement?.closest("#job-rows tr"));
  const row = rows[present < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, present + by))];
  row?.querySelector("[data-part=name]").focus();
}
