// What can be done with the download of the sheet: its actions, and copies of what other programs need.

import { act, actionWords, fetchCommand, isPossible, readJob } from "./actions.js";
import { address, get } from "./api.js";
import { change } from "./bulk.js";
import { element, icon, setText } from "./dom.js";
import { copyButton } from "./notices.js";
import { mayUse } from "./scopes.js";

const names = ["pause", "resume", "retry", "file", "change", "cancel", "delete"];

/** [what, its text, whether a job has it]. */
const copies = [
  ["address", (job) => job.url, () => true],
  ["sha-256", (job) => job.file.sha256, (job) => Boolean(job.file)],
  ["identifier", (job) => job.id, () => true],
  ["curl command", fetchCommand, (job) => Boolean(job.file)],
  ["resume data", resumeData, (job) => !job.file && job.progress.bytes_durable > 0 && mayUse("jobs")],
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
    this.#copies = copies.map(([what, textOf, has]) => [has, copyButton(`Copy ${what}`, what, () => textOf(this.#job))])
      .filter(([, button]) => button);
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
    for (const [has, button] of this.#copies) button.hidden = !has(job);
  }

  async #act(name) {
    const job = this.#job;
    const changed = name === "change" ? await change([job]).then(() => readJob(job.id)) : await act(name, job);
    if (changed !== undefined) this.#on.changed(changed);
  }
}

async function resumeData(job) {
  return JSON.stringify(await get(address("jobs", job.id, "resume-data")), null, 2);
}
