// Ctrl+K: finds an action, a session or a download by a few letters.

import { byID, setAttribute } from "./dom.js";
import { element } from "./render.js";

/** The number of entries that are shown. */
const most = 12;

/** @typedef {{ name: string, kind: string, needs?: string, run: () => void }} Entry */

export class Palette {
  #dialog = byID("palette");
  #input = byID("palette-text");
  #list = byID("palette-list");
  #entriesFor;
  /** @type {Entry[]} */
  #shown = [];
  #chosen = 0;

  /**
   * @param {(text: string) => Entry[]} entriesFor returns the entries for a text in lower case: [{name, kind, run()}], the best first.
   */
  constructor(entriesFor) {
    this.#entriesFor = entriesFor;
    this.#input.addEventListener("input", () => this.#show());
    this.#input.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.#press(event));
    this.#list.addEventListener("click", (/** @type {any} */ event) => {
      const place = [...this.#list.children].indexOf(event.target.closest("[role=option]"));
      if (place >= 0) this.#run(place);
    });
    document.addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "k" || document.querySelector("dialog[open]")) return;
      event.preventDefault();
      this.open();
    });
  }

  open() {
    this.#input.value = "";
    this.#show();
    this.#dialog.showModal();
    this.#input.focus();
  }

  #show() {
    this.#shown = this.#entriesFor(this.#input.value.trim().toLowerCase()).slice(0, most);
    this.#list.replaceChildren(...this.#shown.map(({ name, kind }, index) => element(
      "div", { role: "option", class: "palette-entry", id: `palette-${index}` }, element("span", {}, name), element("span", { class: "muted" }, kind))));
    this.#choose(0);
  }

  /** @param {number} place */
  #choose(place) {
    this.#chosen = Math.min(Math.max(0, place), Math.max(0, this.#shown.length - 1));
    [...this.#list.children].forEach((option, index) => setAttribute(option, "aria-selected", index === this.#chosen));
    setAttribute(this.#input, "aria-activedescendant", this.#shown.length > 0 ? `palette-${this.#chosen}` : null);
    this.#list.children[this.#chosen]?.scrollIntoView({ block: "nearest" });
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    if (event.key === "ArrowDown") this.#choose(this.#chosen + 1);
    else if (event.key === "ArrowUp") this.#choose(this.#chosen - 1);
    else if (event.key === "Enter") this.#run(this.#chosen);
    else return;
    event.preventDefault();
  }

  /** @param {number} place */
  #run(place) {
    const entry = this.#shown[place];
    this.#dialog.close();
    entry?.run();
  }
}
