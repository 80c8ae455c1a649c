// Makes a part of the page as a value describes it. `h` describes an element, and `render` brings what stands in the page to the
// description with the fewest changes: what stays the same is not touched, so that it keeps the focus, a selection, and what the user
// has typed. Data (file names, addresses, errors) only become text: no file of this page parses markup from a string.

/**
 * @typedef {{ name: string, key: unknown, attributes: Attributes, children: Child[] }} Description
 * @typedef {Record<string, any>} Attributes `onclick` and others that begin with “on” are listeners, `style` is an object,
 *   `key` tells a child from its siblings. null and false leave an attribute out.
 * @typedef {Description | Node | string | number | null | undefined | false} Child
 */

const svg = "http://www.w3.org/2000/svg";
const pictures = new Set(["svg", "use", "path", "rect", "line"]);
/** What the user or the browser changes, too: it is compared with the element itself. */
const live = new Set(["value", "checked", "indeterminate"]);
/** @type {Attributes} */
const none = {};

/**
 * The description that an element was last brought to.
 * @type {WeakMap<Node, Description>}
 */
const shown = new WeakMap();

/**
 * Describes an element. Empty children are left out.
 *
 *     h("p", { class: "note" }, "Hello, ", h("em", {}, name))
 *
 * @param {string} name @param {Attributes} [attributes] @param {...(Child | Child[])} children
 * @returns {Description}
 */
export function h(name, attributes = none, ...children) {
  return { name, key: attributes.key, attributes, children: children.flat() };
}

/**
 * An icon of the page's sprite.
 * @param {string} name
 */
export function icon(name) {
  return h("svg", { class: "icon", "aria-hidden": true }, h("use", { href: `#icon-${name}` }));
}

/**
 * Makes an element of a description.
 *
 * @param {string} name @param {Attributes} [attributes] @param {...(Child | Child[])} children
 * @returns {any} an HTMLElement, or what the name stands for.
 */
export function element(name, attributes = {}, ...children) {
  return made(h(name, attributes, ...children));
}

/**
 * Brings the children of an element to these descriptions. If the control that has the focus disappears, the next one gets it.
 *
 * @param {Element} parent @param {...(Child | Child[])} children
 */
export function render(parent, ...children) {
  const keep = focusWithin(parent);
  fill(parent, children.flat());
  keep();
}

// MARK: Children

/** @param {Node} parent @param {Child[]} children */
function fill(parent, children) {
  const before = [...parent.childNodes];
  const keyed = new Map(before.flatMap((node) => (shown.get(node)?.key === undefined ? [] : [[shown.get(node)?.key, node]])));
  const others = before.filter((node) => shown.get(node)?.key === undefined);
  const nodes = children.flatMap((child) => {
    if (child == null || child === false || child === "") return [];
    if (child instanceof Node) return child;
    if (typeof child !== "object") return text(String(child), others);
    const fits = (/** @type {Node} */ node) => shown.get(node)?.name === child.name;
    const known = child.key === undefined ? taken(others, fits) : keyed.get(child.key);
    return known && fits(known) ? brought(known, child) : made(child);
  });
  const wanted = new Set(nodes);
  for (const node of before) if (!wanted.has(node)) parent.removeChild(node);
  let next = parent.firstChild;
  for (const node of nodes) {
    if (node === next) next = next.nextSibling;
    else parent.insertBefore(node, next);
  }
}

/**
 * Takes the first node that fits out of those that may be used again.
 * @param {Node[]} nodes @param {(node: Node) => boolean} fits
 */
function taken(nodes, fits) {
  const place = nodes.findIndex(fits);
  return place < 0 ? null : nodes.splice(place, 1)[0];
}

/** @param {string} words @param {Node[]} others */
function text(words, others) {
  const node = taken(others, (each) => each.nodeType === Node.TEXT_NODE) ?? document.createTextNode("");
  // Setting the same text would clear a selection.
  if (node.nodeValue !== words) node.nodeValue = words;
  return node;
}

/** @param {Description} description @returns {Node} */
function made(description) {
  const { name } = description;
  return brought(pictures.has(name) ? document.createElementNS(svg, name) : document.createElement(name), description);
}

// MARK: Attributes

/** @param {any} node @param {Description} wanted @returns {Node} */
function brought(node, wanted) {
  const before = shown.get(node)?.attributes ?? none;
  shown.set(node, wanted);
  for (const name of Object.keys(before)) if (!(name in wanted.attributes)) set(node, name, null, before[name]);
  // A menu has its value only after its entries.
  fill(node, wanted.children);
  for (const [name, value] of Object.entries(wanted.attributes)) {
    const isSame = live.has(name) && name in before ? node[name] === value : value === before[name];
    if (!isSame) set(node, name, value, before[name]);
  }
  return node;
}

/** @param {any} node @param {string} name @param {any} value @param {any} before what the last description had. */
function set(node, name, value, before) {
  if (name === "key") return;
  if (name.startsWith("on")) {
    // One listener for each event: it asks the description of the moment.
    if (before == null) node.addEventListener(name.slice(2), listen);
  } else if (name === "style") {
    for (const [property, text] of Object.entries(value ?? {})) if (text !== before?.[property]) node.style.setProperty(property, text);
  } else if (live.has(name)) node[name] = value ?? "";
  else if (value == null || value === false) node.removeAttribute(name);
  else node.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : value);
}

/** @param {Event} event */
function listen(event) {
  const node = /** @type {Node} */ (event.currentTarget);
  return shown.get(node)?.attributes[`on${event.type}`]?.(event);
}

// MARK: The focus

/**
 * Remembers where the focus is. The browser takes it from what moves, hides or disappears.
 *
 * @param {Element} parent
 * @returns {() => void} gives it back, or to the nearest control that is there.
 */
function focusWithin(parent) {
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  if (!focused || focused === document.body || !parent.contains(focused)) return () => {};
  /** @type {[Element, number][]} */
  const path = [];
  for (let node = /** @type {Element} */ (focused); node !== parent && node.parentElement; node = node.parentElement) {
    path.push([node.parentElement, [...node.parentElement.children].indexOf(node)]);
  }
  return () => {
    const isThere = focused.isConnected && focused.checkVisibility();
    if (isThere && document.activeElement === focused) return;
    const near = isThere ? focused : nearest(path) ?? headingOf(parent);
    near?.focus({ preventScroll: true });
  };
}

/**
 * The control at one of these places, from the inmost.
 * @param {[Element, number][]} path @returns {HTMLElement | undefined}
 */
function nearest(path) {
  const around = path.filter(([parent]) => parent.isConnected).flatMap(([parent, place]) => [
    parent.children[place] ?? parent.lastElementChild, parent,
  ]);
  const controls = around.flatMap((each) => (each ? [each, ...each.querySelectorAll("button, input, a")] : []));
  return /** @type {HTMLElement[]} */ (controls).find((each) => each.matches("button, input, a") && each.checkVisibility());
}

/** @param {Element} parent @returns {HTMLElement | null} */
function headingOf(parent) {
  const heading = /** @type {HTMLElement | null} */ (parent.closest("section, dialog")?.querySelector("h2"));
  return heading?.checkVisibility() ? heading : document.querySelector("[id^=view-]:not([hidden]) h2");
}
