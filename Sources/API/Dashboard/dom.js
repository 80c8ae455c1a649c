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
  if (fraction == null) bar.removeAttribute("value");
  else if (bar.value !== fraction || !bar.hasAttribute("value")) bar.value = fraction;
  setAttribute(bar, "aria-label", label);
}

/** Brings the children of a list into this order. A child that moves keeps the focus; one that does not is not touched. */
export function arrange(parent, children) {
  const focused = parent.contains(document.activeElement) ? document.activeElement : null;
  const wanted = new Set(children);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  children.forEach((child, index) => {
    if (parent.children[index] !== child) parent.insertBefore(child, parent.children[index] ?? null);
  });
  // The browser takes the focus from an element that moves.
  if (focused?.isConnected && focused !== document.activeElement) focused.focus({ preventScroll: true });
}

/**
 * Buttons with `data-close` close their dialog. The browser handles Escape.
 *
 * @param isBusy whether the dialog waits for an answer that it has to show; it stays open then.
 */
export function closeByButtons(dialog, isBusy = () => false) {
  for (const button of dialog.querySelectorAll("[data-close]")) {
    button.addEventListener("click", () => isBusy() || dialog.close());
  }
  dialog.addEventListener("cancel", (event) => isBusy() && event.preventDefault());
  // A browser closes a dialog at the second Escape, even if the page has prevented the first.
  dialog.addEventListener("close", () => isBusy() && dialog.showModal());
}
