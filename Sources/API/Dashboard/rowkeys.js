// The keyboard in the list of downloads. Only one row takes part in the order of Tab, so that Tab leads past a long list; the
// arrow keys move to the same control in another row.

const controls = "button, input";

/**
 * @typedef {object} RowKeyListener
 * @property {(id: string) => void} select
 * @property {(id: string) => void} extend
 * @property {(id: string) => void} toggle
 * @property {() => void} all
 * @property {() => void} none
 * @property {() => void} remove
 * @property {(isLast: boolean) => HTMLElement | undefined} end returns the first or last row.
 */

export class RowKeys {
  #body;
  /** @type {any} */
  #current = null;
  #on;

  /**
   * @param {HTMLElement} body
   * @param {RowKeyListener} on
   */
  constructor(body, on) {
    this.#body = body;
    this.#on = on;
    body.addEventListener("focusin", (/** @type {any} */ event) => this.#enter(event.target.closest("tr")));
    body.addEventListener("keydown", (event) => this.#press(event));
  }

  /** The rows have changed. */
  update() {
    if (!this.#current?.isConnected) this.#current = this.#body.querySelector("[data-job]");
    for (const row of this.#body.children) this.#show(row);
  }

  /** @param {HTMLElement | null} row */
  #enter(row) {
    if (!row || row === this.#current) return;
    const left = this.#current;
    this.#current = row;
    for (const each of [left, row]) if (each) this.#show(each);
  }

  /** @param {Element} row */
  #show(row) {
    const index = row === this.#current ? 0 : -1;
    for (const control of /** @type {NodeListOf<HTMLElement>} */ (row.querySelectorAll(controls))) {
      if (control.tabIndex !== index) control.tabIndex = index;
    }
  }

  /** @param {any} event */
  #press(event) {
    const row = event.target.closest("tr");
    if (!row || event.altKey) return;
    const step = steps[event.key];
    const hasCommand = event.ctrlKey || event.metaKey;
    if (step) this.#move(row, event, step(row, this.#on));
    else if (hasCommand && event.key.toLowerCase() === "a") this.#on.all();
    else if (event.key === "Escape") this.#on.none();
    else if (event.key === "Delete") this.#on.remove();
    else if (event.key === " " && event.target.dataset.part === "name") this.#on.toggle(row.dataset.job);
    else return;
    event.preventDefault();
  }

  /** @param {HTMLElement} row @param {any} event @param {HTMLElement | null | undefined} target */
  #move(row, event, target) {
    if (!target?.dataset.job || target === row) return;
    const { part, action } = event.target.dataset;
    const same = /** @type {HTMLElement | null} */ (target.querySelector(action ? `[data-action=${action}]` : `[data-part=${part}]`));
    (same?.checkVisibility() ? same : /** @type {HTMLElement | null} */ (target.querySelector("[data-part=name]")))?.focus();
    if (!event.shiftKey) return;
    this.#on.extend(row.dataset.job ?? "");
    this.#on.extend(target.dataset.job ?? "");
  }
}

/** @type {Record<string, (row: any, on: RowKeyListener) => HTMLElement | null | undefined>} */
const steps = {
  ArrowDown: (row) => row.nextElementSibling,
  ArrowUp: (row) => row.previousElementSibling,
  Home: (row, on) => on.end(false),
  End: (row, on) => on.end(true),
};
