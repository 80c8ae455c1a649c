// The sheet beside the list: one download, session or webhook at a time. It has an address (views.js), and fills a phone.

import { byID, closeByButtons, setText } from "./dom.js";
import { h, render } from "./render.js";
import { leaveSheet, replaceSheet } from "./views.js";

/** @typedef {{ kind: string, closed: () => void }} Owner what the sheet shows; `closed` is called when it shows something else. */

/** @type {Owner | null} */
let owner = null;

const dialog = () => /** @type {HTMLDialogElement} */ (byID("sheet"));

export function prepareSheet() {
  closeByButtons(dialog());
  dialog().addEventListener("close", () => {
    // The event comes later than the closing: the sheet may show something else by then.
    if (dialog().open || !owner) return;
    const { kind } = owner;
    leave();
    leaveSheet(kind);
  });
}

/**
 * Opens the sheet for this owner, if it is not its own already.
 * @param {Owner} next
 */
export function takeSheet(next) {
  if (owner !== next) leave();
  owner = next;
  if (!dialog().open) dialog().showModal();
}

function leave() {
  owner?.closed();
  owner = null;
  render(byID("sheet-body"));
}

/**
 * Shows this, if the sheet is still its own.
 * @param {Owner} from @param {string} heading @param {...(Child | Child[])} children
 */
export function fillSheet(from, heading, ...children) {
  if (owner !== from) return;
  setText(byID("sheet-heading"), heading);
  render(byID("sheet-body"), h("div", { key: `${from.kind} ${heading}`, class: `sheet-${from.kind}` }, ...children));
}

/** Gives the focus to what the user has come for, or to the heading. */
export function focusSheet() {
  (byID("sheet-body").querySelector("form input") ?? byID("sheet-heading")).focus();
}

/** @param {Owner} from */
export function closeSheet(from) {
  if (owner === from && dialog().open) dialog().close();
}

/**
 * The parts of a sheet, each with an address of its own; Back does not lead through them.
 *
 * @param {Record<string, string>} names the first of them is the address of the sheet itself. @param {string} present
 * @param {string[]} address
 */
export function tabs(names, present, address) {
  const [first] = Object.keys(names);
  return h("nav", { class: "tabs", "aria-label": "Parts" }, Object.entries(names).map(([name, words]) => {
    const parts = name === first ? address : [...address, name];
    const go = (/** @type {Event} */ event) => {
      event.preventDefault();
      replaceSheet(...parts);
    };
    return h("a", { key: name, href: `#/${parts.join("/")}`, "aria-current": name === present ? "page" : null, onclick: go }, words);
  }));
}

/**
 * A document as the API has it, with a button that copies it.
 * @param {unknown} document @param {Child} copy
 */
export function jsonPart(document, copy) {
  return h("section", { key: "json" }, copy, h("pre", { class: "sheet-json", tabindex: "0", "aria-label": "JSON" }, JSON.stringify(document, null, 2)));
}
