// The pages of a long list, and the controls that turn them.

import { byID, element, setAttribute } from "./dom.js";
import { count } from "./format.js";

const pageSize = 100;

export class Pages {
  /** The number of the page, from 0. */
  page = 0;
  #pages = 1;

  /** @param turn is called with the number of the wanted page. */
  constructor(turn) {
    const turnTo = (page) => page >= 0 && page < this.#pages && turn(page);
    byID("page-previous").addEventListener("click", () => turnTo(this.page - 1));
    byID("page-next").addEventListener("click", () => turnTo(this.page + 1));
    byID("page-choice").addEventListener("change", () => turnTo(Number(byID("page-choice").value)));
  }

  /** The position of the page's first entry in the list. */
  get start() {
    return this.page * pageSize;
  }

  /** @returns the entries on the page. If the list has become shorter, the page is the last one. */
  cut(list) {
    this.#pages = Math.max(1, Math.ceil(list.length / pageSize));
    this.page = Math.min(this.page, this.#pages - 1);
    this.#show();
    return list.slice(this.start, this.start + pageSize);
  }

  #show() {
    byID("job-pages").hidden = this.#pages === 1;
    setAttribute(byID("page-previous"), "aria-disabled", this.page === 0 ? "true" : null);
    setAttribute(byID("page-next"), "aria-disabled", this.page === this.#pages - 1 ? "true" : null);
    const select = byID("page-choice");
    if (select.options.length !== this.#pages) {
      const names = Array.from({ length: this.#pages }, (_, index) => `Page ${count(index + 1)} of ${count(this.#pages)}`);
      select.replaceChildren(...names.map((name, index) => element("option", { value: index }, name)));
    }
    select.value = String(this.page);
  }
}
