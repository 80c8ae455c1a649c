// What can be done with the download of the sheet: its actions, and copies of what other programs need.

import { act, actionWords, fetchCommand, isPossible, readJob } from "./actions.js";
import { address, get } from "./api.js";
import { change } from "./bulk.js";
import { element, icon, setText } from "./dom.js";
import { complain, tell } from "./notices.js";
import { mayUse } from "./scopes.js";

const names = ["pause", "resume", "retry", "file", "change", "cancel", "delete"];

/** [what, the text of a job; null: it has none]. */
const copies = [
  ["address", (job) => job.url],
  ["sha-256", (job) => job.file?.sha256 ?? null],
  ["identifier", (job) => job.id],
  ["curl command", (job) => (job.file ? fetchCommand(job) : null)],
  ["resume data", (job) => (!job.file && job.progress.bytes_durable > 0 && mayUse("jobs") ? resumeData(job) : null)],
];

export class SheetActions {
  root = element("div", { class: "sheet-actions" });
  #job = null;
  #buttons;
  #copies;
  #on;

  /** @param on {changed(job)}: the job is null if it was deleted. */
  constructor(on) {
    this.#on = on;
    this.#buttons = names.map((name) => [name, element("button", {
      type: "button", class: `quiet ${name === "file" ? "" : "needs-jobs"}`, "data-sheet": name,
      onclick: () => this.#act(name),
    }, icon(name), element("span"))]);
    // The clipboard needs a page that came over HTTPS or from this computer.
    this.#copies = navigator.clipboard ? copies.map(([what, textOf]) => [textOf, element("button", {
      type: "button", class: "small", onclick: () => this.#copy(what, textOf),
    }, `Copy ${what}`)]) : [];
    this.root.append(
      element("div", {}, ...this.#buttons.map(([, button]) => button)),
      element("div", {}, ...this.#copies.map(([, button]) => button)));
  }

  show(job) {
    this.#job = job;
    for (const [name, button] of this.#buttons) {
      button.hidden = name === "change" ? job.state === "succeeded" : !isPossible(name, job);
      setText(button.lastElementChild, name === "change" ? "Change…" : actionWords(name, job));
    }
    for (const [textOf, button] of this.#copies) button.hidden = textOf(job) === null;
  }

  async #act(name) {
    const job = this.#job;
    const changed = name === "change" ? await change([job]).then(() => readJob(job.id)) : await act(name, job);
    if (changed !== undefined) this.#on.changed(changed);
  }

  async #copy(what, textOf) {
    try {
      await navigator.clipboard.writeText(await textOf(this.#job));
      tell(`The ${what} was copied.`);
    } catch (error) {
      complain(error);
    }
  }
}

async function resumeData(job) {
  return JSON.stringify(await get(address("jobs", job.id, "resume-data")), null, 2);
}
