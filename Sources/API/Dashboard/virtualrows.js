// The rows of a long list. Only those near the view are in the page; spacers keep the place of the others, so that the page scrolls
// as if all were there.

import { h, render } from "./render.js";

/** Rows above and below the view, so that a step of the keyboard or of a wheel finds them. */
const beyond = 30;

export class VirtualRows {
  #body;
  #on;
  /** @type {any[]} */
  #items = [];
  /** Pixels of a row. All rows have the same height. */
  #height = 36;
  #isMeasured = false;
  /** The places that are in the page, besides that of the focus. */
  #range = [0, 0];

  /**
   * @param {HTMLElement} body
   * @param {{ key: (item: any) => string, row: (item: any) => Description, rendered: () => void, scrolled: () => void }} on `row` describes
   *   a row with this key; `rendered` is called after each rendering, `scrolled` if it shows other rows than before.
   */
  constructor(body, on) {
    this.#body = body;
    this.#on = on;
    window.addEventListener("scroll", () => this.#scroll(), { passive: true });
    window.addEventListener("resize", () => {
      this.#isMeasured = false;
      this.render();
    });
  }

  /** The items whose rows are in the page. */
  get present() {
    return this.#items.slice(...this.#range);
  }

  /** @param {any[]} items */
  show(items) {
    this.#items = items;
    this.render();
  }

  /**
   * Scrolls to an item.
   * @param {number} index @returns {HTMLElement | undefined} its row.
   */
  reveal(index) {
    const top = this.#body.getBoundingClientRect().top + index * this.#height;
    window.scrollBy({ top: top - window.innerHeight / 2, behavior: /** @type {any} */ ("instant") });
    this.render();
    const rows = /** @type {HTMLElement[]} */ ([...this.#body.children]);
    return rows.find((row) => row.ariaRowIndex === String(index + 2));
  }

  #scroll() {
    const [from, to] = this.#view();
    const [first, last] = this.#range;
    const isNear = (from >= first + beyond / 2 || first === 0) && (to <= last - beyond / 2 || last === this.#items.length);
    if (isNear) return;
    this.render();
    this.#on.scrolled();
  }

  /** The items in view: the first, and the one after the last. */
  #view() {
    const top = this.#body.getBoundingClientRect().top;
    const place = (/** @type {number} */ pixels) => Math.min(this.#items.length, Math.max(0, pixels / this.#height));
    return [Math.floor(place(-top)), Math.ceil(place(window.innerHeight - top))];
  }

  render() {
    const [from, to] = this.#view();
    this.#range = [Math.max(0, from - beyond), Math.min(this.#items.length, to + beyond)];
    const [first, last] = this.#range;
    const shown = new Set(Array.from({ length: last - first }, (_, index) => first + index));
    const focused = this.#focused();
    if (focused >= 0) shown.add(focused);
    render(this.#body, this.#rows([...shown].sort((one, other) => one - other)));
    this.#on.rendered();
    this.#measure();
  }

  /** The row that has the focus stays, wherever the view is. */
  #focused() {
    const key = /** @type {HTMLElement | null} */ (document.activeElement?.closest("tr"))?.dataset.key;
    return key === undefined ? -1 : this.#items.findIndex((item) => this.#on.key(item) === key);
  }

  /** @param {number[]} indices */
  #rows(indices) {
    /** @type {Description[]} */
    const rows = [];
    let next = 0;
    for (const index of [...indices, this.#items.length]) {
      if (index > next) rows.push(this.#spacer(`spacer ${rows.length === 0 ? "before" : index}`, index - next));
      next = index + 1;
      if (index < this.#items.length) rows.push(this.#row(index));
    }
    return rows;
  }

  /** @param {number} index */
  #row(index) {
    const row = this.#on.row(this.#items[index]);
    Object.assign(row.attributes, { "aria-rowindex": index + 2, "data-key": row.key });
    return row;
  }

  /** @param {string} key @param {number} count */
  #spacer(key, count) {
    const style = { height: `${count * this.#height}px` };
    return h("tr", { key, class: "spacer", "aria-hidden": true, style }, h("td"));
  }

  #measure() {
    const row = this.#body.querySelector("[data-key]");
    if (this.#isMeasured || !row) return;
    this.#isMeasured = true;
    const { height } = row.getBoundingClientRect();
    if (height > 0 && height !== this.#height) {
      this.#height = height;
      this.render();
    }
  }
}
