// Finds and changes single elements. What follows from data is described and rendered (render.js).

/**
 * The element with this id. A missing element is a mistake in the page.
 * @param {string} id @returns {any} an HTMLElement, of the kind that index.html has there.
 */
export function byID(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no #${id}.`);
  return found;
}

/**
 * Sets a text only if it differs, because setting it would clear a selection.
 * @param {Element} target @param {string} text
 */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/** @param {Element} target @param {string} name @param {any} value */
export function setAttribute(target, name, value) {
  if (value == null) target.removeAttribute(name);
  else if (target.getAttribute(name) !== String(value)) target.setAttribute(name, value);
}

/** Focuses the heading of the view that is shown. */
export function focusView() {
  /** @type {HTMLElement | null} */ (document.querySelector("[id^=view-]:not([hidden]) h2"))?.focus({ preventScroll: true });
}

/**
 * Buttons with `data-close` close their dialog. The browser handles Escape, and gives the focus back to the control that has
 * opened the dialog; if that is gone, the view gets it.
 * @param {HTMLDialogElement} dialog
 * @param {() => boolean} isBusy whether the dialog waits for an answer that it has to show; it stays open then.
 */
export function closeByButtons(dialog, isBusy = () => false) {
  for (const button of dialog.querySelectorAll("[data-close]")) {
    button.addEventListener("click", () => isBusy() || dialog.close());
  }
  dialog.addEventListener("cancel", (event) => isBusy() && event.preventDefault());
  dialog.addEventListener("close", () => {
    // A browser closes a dialog at the second Escape, even if the page has prevented the first.
    if (isBusy()) dialog.showModal();
    else if (hasNoFocus()) focusView();
  });
}

function hasNoFocus() {
  const focused = document.activeElement;
  return !focused || focused === document.body || !focused.checkVisibility();
}
