// The views of the page: downloads, sessions, webhooks and settings. The part of the address after # names the view, so that
// the browser's Back button and bookmarks work.

import { byID, focusView, setAttribute } from "./dom.js";

const names = ["downloads", "sessions", "webhooks", "settings"];

let present = "downloads";

/** @param changed(view) is called for the first view, and after each change. */
export function prepareViews(changed) {
  const show = (isFirst) => {
    // A dialog is about what is behind it.
    for (const dialog of isFirst ? [] : document.querySelectorAll("dialog[open]")) dialog.close();
    const wanted = location.hash.slice(1);
    // Other anchors, such as that of the skip link, are places in the present view.
    if (!isFirst && !names.includes(wanted)) return;
    present = names.includes(wanted) ? wanted : "downloads";
    for (const name of names) byID(`view-${name}`).hidden = name !== present;
    document.body.dataset.view = present;
    for (const link of byID("views").children) {
      setAttribute(link, "aria-current", link.hash === `#${present}` ? "page" : null);
    }
    if (!isFirst) focusView();
    changed(present);
  };
  window.addEventListener("hashchange", () => show(false));
  show(true);
}

export function viewShown() {
  return present;
}

/** @returns whether another view is shown now; it follows with the event `hashchange`. */
export function showView(name) {
  const isOther = present !== name;
  if (isOther) location.hash = name;
  return isOther;
}
