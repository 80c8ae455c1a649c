// The orders of a list, and the buttons in the heads of a table that choose one.

import { setAttribute } from "./dom.js";
import { element } from "./render.js";

const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

/** As people order names: `file 2` is before `File 10`. */
export const byWords = collator.compare;
export const byBytes = (/** @type {string} */ one, /** @type {string} */ other) => (one < other ? -1 : Number(one > other));

/**
 * Sorts by a key. Entries with equal keys keep their order, and those without a key are last in both directions.
 *
 * @template T
 * @param {T[]} entries @param {(entry: T) => any} keyOf @param {boolean} [isDescending]
 * @param {(one: string, other: string) => number} [order]
 */
export function sorted(entries, keyOf, isDescending = false, order = byWords) {
  /** @type {[any, T][]} */
  const keyed = entries.map((entry) => [keyOf(entry), entry]);
  const sign = isDescending ? -1 : 1;
  keyed.sort(([one], [other]) => {
    if (one == null || other == null) return Number(one == null) - Number(other == null);
    return sign * (typeof one === "string" ? order(one, other) : one - other);
  });
  return keyed.map(([, entry]) => entry);
}

/** Heads with `data-sort` get a button. A second press on the same button reverses the order. */
export class SortableHeads {
  #heads;

  /**
   * @param {HTMLElement} row @param {string[]} descending
   * @param {(order: Order) => void} chosen `descending` names the keys whose first order is the descending one.
   */
  constructor(row, descending, chosen) {
    this.#heads = /** @type {HTMLElement[]} */ ([...row.querySelectorAll("[data-sort]")]);
    for (const head of this.#heads) {
      const key = head.dataset.sort ?? "";
      const press = () => {
        const isAgain = head.getAttribute("aria-sort");
        chosen({ key, isDescending: isAgain ? isAgain === "ascending" : descending.includes(key) });
      };
      head.replaceChildren(element("button", { type: "button", class: "head", onclick: press }, ...head.childNodes));
    }
  }

  /** @param {Order} order */
  show({ key, isDescending }) {
    for (const head of this.#heads) {
      const order = isDescending ? "descending" : "ascending";
      setAttribute(head, "aria-sort", head.dataset.sort === key ? order : null);
    }
  }
}
