// The bar above the list of downloads: how many are selected, and the controls that select all of them, or all that failed.

import { byID, setText } from "./dom.js";
import { count } from "./format.js";

export class SelectionBar {
  #selection;

  /**
   * @param {import("./selection.js").Selection} selection
   * @param {() => Job[]} shown returns the downloads that the filter shows, on all pages.
   */
  constructor(selection, shown) {
    this.#selection = selection;
    const ids = (/** @type {Job[]} */ some) => some.map((job) => job.id);
    byID("select-all").addEventListener("change", (/** @type {any} */ event) => selection.set(event.target.checked ? ids(shown()) : []));
    byID("select-failed").addEventListener("click", () => selection.set(ids(shown().filter(hasFailed))));
    byID("select-none").addEventListener("click", () => {
      // The button is hidden then, and must not take the focus with it.
      byID("select-all").focus();
      selection.clear();
    });
  }

  /** @param {Job[]} jobs */
  show(jobs) {
    const [size, box] = [this.#selection.size, byID("select-all")];
    box.checked = size > 0 && jobs.every((job) => this.#selection.has(job.id));
    box.indeterminate = size > 0 && !box.checked;
    setText(byID("selection-words"), size > 0 ? `${count(size)} selected` : "Select all");
    const failed = jobs.filter(hasFailed).length;
    byID("select-failed").hidden = failed === 0;
    setText(byID("select-failed"), `Select all failed (${count(failed)})`);
    byID("select-none").hidden = size === 0;
  }
}

/** @param {Job} job */
function hasFailed(job) {
  return job.state === "failed";
}
