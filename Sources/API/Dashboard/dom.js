// Creates and finds elements. Data (file names, addresses, errors) are only set as text: no file of this page parses markup
// from a string.

/** The element with this id. A missing element is a mistake in the page. */
export function byID(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no #${id}.`);
  return found;
}

/**
 * Creates an element. Children are elements or texts; null is skipped.
 *
 *     element("p", { class: "note" }, "Hello, ", element("em", {}, name))
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value != null) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child != null));
  return made;
}

/** An icon of the page's sprite. */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const [picture, use] = [document.createElementNS(space, "svg"), document.createElementNS(space, "use")];
  picture.setAttribute("class", "icon");
  picture.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `#icon-${name}`);
  picture.append(use);
  return picture;
}

/** A copy of a template's only element, and its parts that have a `data-part`. */
export function copyOf(templateID) {
  const root = byID(templateID).content.firstElementChild.cloneNode(true);
  const parts = {};
  for (const part of root.querySelectorAll("[data-part]")) parts[part.dataset.part] = part;
  return { root, parts };
}

/** Sets a text only if it differs, because setting it would clear a selection. */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

export function setAttribute(target, name, value) {
  if (value == null) target.removeAttribute(name);
  else if (target.getAttribute(name) !== String(value)) target.setAttribute(name, value);
}

/** @param fraction from 0 to 1, or null if it is unknown. */
export function setBar(bar, fraction, label) {
  setAttribute(bar, "aria-valuenow", fraction == null ? null : Math.round(fraction * 1000) / 10);
  setAttribute(bar, "aria-label", label);
  // A transform moves without a layout of the page.
  const transform = `scaleX(${fraction ?? 1})`;
  if (bar.firstElementChild.style.transform !== transform) bar.firstElementChild.style.transform = transform;
}

/**
 * Brings the children of a list into this order. A child that moves keeps the focus; one that does not is not touched. From one
 * that is removed, the focus goes to its successor.
 */
export function arrange(parent, children) {
  const focused = parent.contains(document.activeElement) ? document.activeElement : null;
  const place = [...parent.children].findIndex((child) => child.contains(focused));
  const wanted = new Set(children);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  children.forEach((child, index) => {
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null);
  });
  // The browser takes the focus from an element that moves.
  if (!focused || focused === document.activeElement) return;
  if (focused.isConnected) focused.focus({ preventScroll: true });
  else focusNear(parent, place);
}

/** Focuses the first control of the child at this place, or of the last one; without one, the heading of the list. */
function focusNear(parent, place) {
  const child = parent.children[place] ?? parent.lastElementChild;
  const controls = child ? [child, ...child.querySelectorAll("*")].filter((part) => part.matches("button, input, a")) : [];
  const target = [...controls, parent.closest("section")?.querySelector("h2")].find((part) => part?.checkVisibility());
  if (target) target.focus({ preventScroll: true });
  else focusView();
}

/**
 * Changes a part of the page. If that hides the control that has the focus, the first of the others that is shown gets it: the
 * browser takes the focus from what it hides.
 */
export function keepFocus(root, others, change) {
  const focused = root.contains(document.activeElement) ? document.activeElement : null;
  change();
  if (focused?.closest("[hidden]")) others.find((other) => !other.hidden)?.focus();
}

/** Focuses the heading of the view that is shown. */
export function focusView() {
  document.querySelector("[id^=view-]:not([hidden]) h2").focus({ preventScroll: true });
}

/**
 * Buttons with `data-close` close their dialog. The browser handles Escape, and gives the focus back to the control that has
 * opened the dialog; if that is gone, the view gets it.
 *
 * @param isBusy whether the dialog waits for an answer that it has to show; it stays open then.
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
