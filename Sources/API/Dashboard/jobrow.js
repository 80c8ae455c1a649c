// A job as a row of the list. The row is created once and then updated in place, so that it keeps the focus.

import { act, actionWords, isInQueue, isPossible } from "./actions.js";
import { copyOf, keepFocus, setAttribute, setBar, setText } from "./dom.js";
import { ago, bytes, duration, fullTime, hostOf, jobName, percent, speed } from "./format.js";
import { mayUse } from "./scopes.js";
import { stateNote, stateWords } from "./words.js";

export class JobRow {
  #parts;
  #buttons;

  /** @param on {open(job), select(id, {shiftKey, isAdded}), changed(id, job)}: the job is null if it was deleted. */
  constructor(job, on) {
    const { root, parts } = copyOf("job-row");
    this.root = root;
    this.#parts = parts;
    this.#buttons = [...root.querySelectorAll("[data-action]")];
    parts.name.addEventListener("click", () => on.open(this.job));
    for (const button of this.#buttons) button.addEventListener("click", () => this.#act(button, on));
    parts.select.addEventListener("click", ({ shiftKey }) => on.select(this.job.id, { shiftKey, isAdded: true }));
    root.addEventListener("click", (event) => this.#press(event, on));
    this.show(job);
  }

  /** A click beside the controls selects the row. */
  #press(event, on) {
    const isText = String(window.getSelection()).length > 0;
    if (event.target.closest("button, input, a") || (isText && !event.shiftKey)) return;
    on.select(this.job.id, { shiftKey: event.shiftKey, isAdded: event.ctrlKey || event.metaKey });
    if (event.shiftKey) window.getSelection().removeAllRanges();
  }

  select(isSelected) {
    if (this.#parts.select.checked !== isSelected) this.#parts.select.checked = isSelected;
    this.root.classList.toggle("selected", isSelected);
  }

  show(job) {
    this.job = job;
    setAttribute(this.root, "data-state", job.state);
    setAttribute(this.root, "data-job", job.id);
    this.root.draggable = isInQueue(job) && mayUse("jobs");
    setText(this.#parts.name, jobName(job));
    setAttribute(this.#parts.name, "title", jobName(job));
    setText(this.#parts.origin, [hostOf(job.url), job.session, ...job.tags].join(" · "));
    setText(this.#parts.state, stateWords(job));
    setAttribute(this.#parts.added, "title", fullTime(job.created_at));
    setAttribute(this.#parts.select, "aria-label", `Select ${jobName(job)}`);
    this.#showProgress();
    this.#showActions();
    this.tick();
  }

  /** Updates the text that depends on the time. */
  tick() {
    setText(this.#parts.added, ago(this.job.created_at));
    const note = stateNote(this.job);
    setText(this.#parts.note, note);
    setAttribute(this.#parts.note, "title", note || null);
  }

  #showProgress() {
    const { progress, state } = this.job;
    const isUnderWay = state === "running";
    const fraction = progress.fraction ?? (isUnderWay ? null : 0);
    setBar(this.#parts.bar, fraction, `Progress of ${jobName(this.job)}`);
    // A bar is for what is on its way.
    this.#parts.bar.classList.toggle("idle", !isUnderWay && (fraction === 0 || fraction === 1));
    setText(this.#parts.bytes, progressWords(progress));
    setText(this.#parts.speed, isUnderWay && progress.bytes_per_second != null ? speed(progress.bytes_per_second) : "");
    setText(this.#parts.left, isUnderWay && progress.eta_seconds != null ? duration(progress.eta_seconds) : "");
  }

  #showActions() {
    keepFocus(this.root, [...this.#buttons, this.#parts.name], () => {
      for (const button of this.#buttons) this.#showAction(button);
    });
  }

  #showAction(button) {
    const words = actionWords(button.dataset.action, this.job);
    button.hidden = !isPossible(button.dataset.action, this.job);
    setAttribute(button, "title", words);
    setAttribute(button, "aria-label", `${words} ${jobName(this.job)}`);
  }

  async #act(button, on) {
    if (button.dataset.action === "supply") return on.open(this.job);
    // The button is not disabled, because a disabled button loses the focus.
    if (button.getAttribute("aria-busy")) return;
    button.setAttribute("aria-busy", "true");
    const job = await act(button.dataset.action, this.job);
    button.removeAttribute("aria-busy");
    on.changed(this.job.id, job);
  }
}

/** `12 % of 4.19 MiB`; `4.19 MiB` if the size is unknown or the download is complete. */
export function progressWords({ bytes_received: received, bytes_expected: expected, fraction }) {
  if (expected == null) return received > 0 ? bytes(received) : "";
  return received >= expected ? bytes(expected) : `${percent(fraction ?? 0)} of ${bytes(expected)}`;
}
