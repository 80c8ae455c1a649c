// The rows of a long list. Only those near the view are in the page; spacers keep the place of the others, so that the page scrolls
// as if all were there.

import { arrange, element, setAttribute } from "./dom.js";

/** Rows above and below the view, so that a step of the keyboard or of a wheel finds them. */
const beyond = 30;

export class VirtualRows {
  #body;
  #on;
  #items = [];
  #rows = new Map();
  #spacers = [];
  /** Pixels of a row. All rows have the same height. */
  #height = 36;
  #isMeasured = false;
  #range = [0, 0];

  /** @param on {key(item), row(item, known), scrolled()}: `row` creates the row, or updates the known one; it has a `root`. */
  constructor(body, on) {
    this.#body = body;
    this.#on = on;
    window.addEventListener("scroll", () => this.#scroll(), { passive: true });
    window.addEventListener("resize", () => {
      this.#isMeasured = false;
      this.#render();
    });
  }

  /** The rows that are in the page, by the keys of their items. */
  get rows() {
    return this.#rows;
  }

  show(items) {
    this.#items = items;
    this.#render();
  }

  /** Scrolls to an item. @returns its row. */
  reveal(index) {
    const top = this.#body.getBoundingClientRect().top + index * this.#height;
    window.scrollBy({ top: top - window.innerHeight / 2, behavior: "instant" });
    this.#render();
    return this.#rows.get(this.#on.key(this.#items[index]));
  }

  #scroll() {
    const [from, to] = this.#view();
    const [first, last] = this.#range;
    const isNear = (from >= first + beyond / 2 || first === 0) && (to <= last - beyond / 2 || last === this.#items.length);
    if (isNear) return;
    this.#render();
    this.#on.scrolled();
  }

  /** The items in view: the first, and the one after the last. */
  #view() {
    const top = this.#body.getBoundingClientRect().top;
    const place = (pixels) => Math.min(this.#items.length, Math.max(0, pixels / this.#height));
    return [Math.floor(place(-top)), Math.ceil(place(window.innerHeight - top))];
  }

  #render() {
    const [from, to] = this.#view();
    this.#range = [Math.max(0, from - beyond), Math.min(this.#items.length, to + beyond)];
    const [first, last] = this.#range;
    const shown = new Set(Array.from({ length: last - first }, (_, index) => first + index));
    const focused = this.#focused();
    if (focused >= 0) shown.add(focused);
    this.#place([...shown].sort((one, other) => one - other));
    this.#measure();
  }

  /** The row that has the focus stays, wherever the view is. */
  #focused() {
    const row = document.activeElement?.closest("tr");
    if (row?.parentElement !== this.#body) return -1;
    const key = [...this.#rows].find(([, each]) => each.root === row)?.[0];
    return key === undefined ? -1 : this.#items.findIndex((item) => this.#on.key(item) === key);
  }

  #place(indices) {
    const [before, children, gaps] = [this.#rows, [], []];
    this.#rows = new Map();
    let next = 0;
    for (const index of [...indices, this.#items.length]) {
      if (index > next) {
        gaps.push(index - next);
        children.push(this.#spacer(gaps.length - 1, index - next));
      }
      next = index + 1;
      if (index === this.#items.length) break;
      const key = this.#on.key(this.#items[index]);
      const row = this.#on.row(this.#items[index], before.get(key));
      setAttribute(row.root, "aria-rowindex", index + 2);
      this.#rows.set(key, row);
      children.push(row.root);
    }
    arrange(this.#body, children);
  }

  #spacer(number, count) {
    const spacer = (this.#spacers[number] ??= element("tr", { class: "spacer", "aria-hidden": "true" }, element("td")));
    const height = `${count * this.#height}px`;
    if (spacer.style.height !== height) spacer.style.height = height;
    return spacer;
  }

  #measure() {
    const [row] = this.#rows.values();
    if (this.#isMeasured || !row) return;
    this.#isMeasured = true;
    const { height } = row.root.getBoundingClientRect();
    if (height > 0 && height !== this.#height) {
      this.#height = height;
      this.#render();
    }
  }
}
