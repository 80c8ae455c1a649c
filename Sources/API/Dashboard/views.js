// What the page shows has an address, so that Back, a reload, a bookmark and a link lead to it: `#downloads?state=failed` for a view,
// and `#/jobs/ID` or `#/webhooks/SESSION/NAME` for a sheet, which is shown above its view.

import { byID, focusView, setAttribute } from "./dom.js";

const names = ["downloads", "sessions", "webhooks", "settings"];

let present = "downloads";
/** The query of the view of downloads, also while another view is shown. */
let query = new URLSearchParams();
/** Whether the address of a sheet was reached from within the page, so that Back leads to the list. */
let cameFromHere = false;

/** @returns {view, query, sheet}: `view` is null for an anchor that is a place in the present view. */
function read() {
  const hash = location.hash.slice(1);
  const sheet = /^\/(jobs\/[\w]+|webhooks\/[\w.-]+\/[\w.-]+)$/.test(hash) ? hash.slice(1).split("/") : null;
  const [name, text = ""] = hash.split("?");
  const view = name === "" ? "downloads" : name;
  return { view: names.includes(view) ? view : null, query: new URLSearchParams(text), sheet };
}

/** @param on {changed(view), narrowed(query), sheet(parts)}: each for the first view, and after each change; null is no sheet. */
export function prepareViews(on) {
  const show = (isFirst) => {
    const wanted = read();
    // Other anchors, such as that of the skip link, are places in the present view.
    if (!isFirst && !wanted.view && !wanted.sheet) return;
    if (!isFirst) closeDialogs();
    const before = present;
    present = wanted.view ?? (isFirst ? "downloads" : present);
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
    on.sheet(wanted.sheet ?? undefined);
  };
  window.addEventListener("hashchange", () => show(false));
  show(true);
}

/** A dialog is about what is behind it, except the one that asks for the token. */
function closeDialogs() {
  for (const dialog of document.querySelectorAll("dialog[open]:not(#token-dialog)")) dialog.close();
}

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
 *
 * @param isTyping while the user types, Back does not lead through each letter.
 */
export function setQuery(wanted, isTyping) {
  if (String(wanted) === String(query)) return;
  query = wanted;
  showQuery();
  if (present !== "downloads" || read().sheet) return;
  if (isTyping) history.replaceState(history.state, "", hashOf("downloads"));
  else history.pushState(null, "", hashOf("downloads"));
}

/** Shows a sheet above the present view: `showSheet("jobs", id)`. */
export function showSheet(...parts) {
  cameFromHere = true;
  location.hash = `/${parts.join("/")}`;
}

/** The user has closed a sheet of this kind: its address is left, as Back would do it. */
export function leaveSheet(kind) {
  if (read().sheet?.[0] !== kind) return;
  if (cameFromHere) history.back();
  else history.replaceState(null, "", hashOf(present));
  cameFromHere = false;
}

export function viewShown() {
  return present;
}

/** @returns whether another view is shown now; it follows with the event `hashchange`. */
export function showView(name) {
  const isOther = present !== name || read().sheet !== null;
  if (isOther) location.hash = hashOf(name);
  return isOther;
}
