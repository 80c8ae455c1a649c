// Moves queued downloads by dragging their rows. The keyboard has *Move to top* and *Move to bottom*.

const type = "application/x-fetchd-downloads";

export class RowDrag {
  #on;
  /**
   * The row that shows where the downloads would go.
   * @type {HTMLElement | null}
   */
  #target = null;

  /**
   * @param {HTMLElement} body
   * @param {{ ids: (id: string | undefined) => string[] | null, move: (ids: string[], place: Record<string, string>) => void }} on `ids` of
   *   what a row stands for, null if it cannot be moved; `place` is `before` or `after`, and the download.
   */
  constructor(body, on) {
    this.#on = on;
    body.addEventListener("dragstart", (event) => this.#start(event));
    body.addEventListener("dragover", (event) => this.#mark(event));
    body.addEventListener("drop", (event) => this.#drop(event));
    for (const name of ["dragend", "dragleave"]) body.addEventListener(name, () => this.#clear());
  }

  /** @param {any} event */
  #start(event) {
    const ids = this.#on.ids(event.target.closest?.("[data-job]")?.dataset.job);
    if (!ids) return event.preventDefault();
    event.dataTransfer.setData(type, JSON.stringify(ids));
    event.dataTransfer.effectAllowed = "move";
  }

  /** @param {any} event */
  #mark(event) {
    const row = this.#take(event);
    if (!row) return;
    this.#target = row;
    row.dataset.drop = isAbove(event, row) ? "before" : "after";
  }

  /** @param {any} event */
  #drop(event) {
    const row = this.#take(event);
    if (!row) return;
    const ids = JSON.parse(event.dataTransfer.getData(type)).filter((/** @type {string} */ id) => id !== row.dataset.job);
    if (ids.length > 0) this.#on.move(ids, { [isAbove(event, row) ? "before" : "after"]: row.dataset.job });
  }

  /**
   * @param {any} event
   * @returns the row under the pointer, if downloads are dragged; what is dragged to the page from elsewhere is not ours.
   */
  #take(event) {
    const row = event.dataTransfer.types.includes(type) ? event.target.closest("[data-job]") : null;
    if (!row) return null;
    event.preventDefault();
    event.stopPropagation();
    this.#clear();
    return row;
  }

  #clear() {
    if (this.#target) delete this.#target.dataset.drop;
    this.#target = null;
  }
}

/** @param {any} event @param {HTMLElement} row */
function isAbove(event, row) {
  const { top, height } = row.getBoundingClientRect();
  return event.clientY < top + height / 2;
}
