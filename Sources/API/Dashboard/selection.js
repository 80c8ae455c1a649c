// Which downloads are selected: one, a range, all that the filter shows, or all that have failed.

export class Selection {
  /** @type {Set<string>} */
  #ids = new Set();
  /**
   * The other end of a range.
   * @type {string | null}
   */
  #anchor = null;
  #changed;

  /** @param {() => void} changed is called after each change. */
  constructor(changed) {
    this.#changed = changed;
  }

  get size() {
    return this.#ids.size;
  }

  get ids() {
    return [...this.#ids];
  }

  /** @param {string} id */
  has(id) {
    return this.#ids.has(id);
  }

  /** @param {string} id */
  only(id) {
    this.#set([id], id);
  }

  /** @param {string[]} ids */
  set(ids) {
    this.#set(ids, null);
  }

  /** @param {string} id @param {boolean} isSelected */
  toggle(id, isSelected = !this.#ids.has(id)) {
    if (isSelected) this.#ids.add(id);
    else this.#ids.delete(id);
    this.#anchor = id;
    this.#changed();
  }

  /**
   * Selects what is between the last selected one and this one, in the order of the list.
   * @param {string} id @param {string[]} order
   */
  extendTo(id, order) {
    const [from, to] = [order.indexOf(this.#anchor ?? ""), order.indexOf(id)];
    if (from < 0 || to < 0) return this.toggle(id, true);
    for (const between of order.slice(Math.min(from, to), Math.max(from, to) + 1)) this.#ids.add(between);
    this.#changed();
  }

  clear() {
    if (this.#ids.size > 0) this.#set([], null);
  }

  /**
   * Removes what no longer exists.
   * @param {(id: string) => boolean} exists
   */
  keep(exists) {
    const gone = this.ids.filter((id) => !exists(id));
    for (const id of gone) this.#ids.delete(id);
    if (gone.length > 0) this.#changed();
  }

  /** @param {string[]} ids @param {string | null} anchor */
  #set(ids, anchor) {
    this.#ids = new Set(ids);
    this.#anchor = anchor;
    this.#changed();
  }
}
