// What the page shows has an address, so that Back, a reload, a bookmark and a link lead to it: `#downloads?state=failed` for a view,
// and `#/jobs/ID`, `#/sessions/NAME` or `#/webhooks/SESSION/NAME` for a sheet, which is shown above its view; `#/jobs/ID/timeline` for a part
// of it.

import { byID, focusView, setAttribute } from "./dom.js";

const names = ["downloads", "sessions", "webhooks", "settings"];

let present = "downloads";
/** The query of the view of downloads, also while another view is shown. */
let query = new URLSearchParams();
/**
 * The address of the sheet that is shown.
 * @type {string[] | null}
 */
let sheet = null;
/**
 * The number of sheets that were opened one from another. So many steps back is the view from which the first was opened. -1: the page
 * has begun with a sheet, and there is no such view.
 */
let depth = 0;

/** What the address says: `view` is null for an anchor that is a place in the present view. */
function read() {
  const hash = location.hash.slice(1);
  const sheet = /^\/(jobs|sessions|webhooks)(\/[\w.-]+)+$/.test(hash) ? hash.slice(1).split("/") : null;
  const [name, text = ""] = hash.split("?");
  const view = name === "" ? "downloads" : name;
  return { view: names.includes(view) ? view : null, query: new URLSearchParams(text), sheet };
}

/**
 * @typedef {object} ViewListener Each is called for the first view, and after each change.
 * @property {(view: string) => void} changed
 * @property {(query: URLSearchParams) => void} narrowed
 * @property {(parts: string[] | null) => void} sheet null is no sheet.
 */

/** @param {ViewListener} on */
export function prepareViews(on) {
  const show = (/** @type {boolean} */ isFirst) => {
    const wanted = read();
    // Other anchors, such as that of the skip link, are places in the present view.
    if (!isFirst && !wanted.view && !wanted.sheet) return;
    if (!isFirst && !isSame(sheet, wanted.sheet)) closeDialogs();
    sheet = wanted.sheet;
    noteDepth(isFirst);
    const before = present;
    present = wanted.view ?? viewOf(sheet);
    for (const name of names) byID(`view-${name}`).hidden = name !== present;
    document.body.dataset.view = present;
    for (const link of byID("views").children) {
      setAttribute(link, "aria-current", link.dataset.view === present ? "page" : null);
    }
    if (!isFirst && !wanted.sheet && before !== present) focusView();
    if (wanted.view === "downloads" && String(wanted.query) !== String(query)) {
      query = wanted.query;
      showQuery();
      on.narrowed(query);
    }
    on.changed(present);
    on.sheet(sheet);
  };
  window.addEventListener("hashchange", () => show(false));
  show(true);
}

/**
 * What is behind a sheet: the list of its kind.
 * @param {string[] | null} sheet
 */
function viewOf(sheet) {
  return sheet === null || sheet[0] === "jobs" ? "downloads" : sheet[0];
}

/**
 * A sheet that the user comes back to has its depth in the history.
 * @param {boolean} isFirst
 */
function noteDepth(isFirst) {
  if (!sheet) return void (depth = 0);
  depth = history.state?.depth ?? (isFirst || depth < 0 ? -1 : depth + 1);
  history.replaceState({ depth }, "");
}

/** The number of words in the address of a sheet. What follows names a part of it. */
const lengths = { jobs: 2, sessions: 2, webhooks: 3 };

/**
 * Whether these are addresses of one sheet.
 * @param {string[] | null} one @param {string[] | null} other
 */
function isSame(one, other) {
  const sheetOf = (/** @type {string[]} */ parts) => parts.slice(0, lengths[/** @type {keyof typeof lengths} */ (parts[0])]).join("/");
  return one !== null && other !== null && sheetOf(one) === sheetOf(other);
}

/** A dialog is about what is behind it, except the one that asks for the token. */
function closeDialogs() {
  for (const dialog of /** @type {NodeListOf<HTMLDialogElement>} */ (document.querySelectorAll("dialog[open]:not(#token-dialog)"))) dialog.close();
}

/** @param {string} view */
function hashOf(view) {
  const text = view === "downloads" ? String(query) : "";
  return `#${view}${text && `?${text}`}`;
}

/** The link to the downloads keeps their filters. */
function showQuery() {
  byID("views").querySelector("[data-view=downloads]").setAttribute("href", hashOf("downloads"));
}

/**
 * The filters, the order or the page of the downloads have changed.
 * @param {URLSearchParams} wanted @param {boolean} isTyping while the user types, Back does not lead through each letter.
 */
export function setQuery(wanted, isTyping) {
  if (String(wanted) === String(query)) return;
  query = wanted;
  showQuery();
  if (present !== "downloads" || read().sheet) return;
  if (isTyping) history.replaceState(history.state, "", hashOf("downloads"));
  else history.pushState(null, "", hashOf("downloads"));
}

/**
 * Shows a sheet above the present view: `showSheet("jobs", id)`.
 * @param {...string} parts
 */
export function showSheet(...parts) {
  location.hash = `/${parts.join("/")}`;
}

/**
 * Shows another part of the sheet. Back does not lead to the former one.
 * @param {...string} parts
 */
export function replaceSheet(...parts) {
  history.replaceState(history.state, "", `#/${parts.join("/")}`);
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}

/**
 * The user has closed a sheet of this kind: its address is left, as Back would do it.
 * @param {string} kind
 */
export function leaveSheet(kind) {
  if (read().sheet?.[0] !== kind) return;
  sheet = null;
  if (depth > 0) history.go(-depth);
  else history.replaceState(null, "", hashOf(present));
  depth = 0;
}

export function viewShown() {
  return present;
}

/** @param {string} name @returns whether another view is shown now; it follows with the event `hashchange`. */
export function showView(name) {
  const isOther = present !== name || read().sheet !== null;
  if (isOther) location.hash = hashOf(name);
  return isOther;
}
