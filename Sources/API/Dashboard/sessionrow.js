// A session as a row of the table. The row is created once and then updated in place, so that it keeps the focus.

import { actOnSession } from "./actions.js";
import { copyOf, keepFocus, setAttribute, setBar, setText } from "./dom.js";
import { bytes, count, percent } from "./format.js";
import { rateText } from "./values.js";
import { finishWords } from "./words.js";

const shownStates = ["running", "queued", "waiting", "paused", "failed", "succeeded"];
const outstanding = ["queued", "running", "waiting", "paused"];

export class SessionRow {
  #parts;
  #buttons;

  /** @param on {edit(), changed(), narrow(values)}. */
  constructor(session, on) {
    const { root, parts } = copyOf("session-row");
    this.root = root;
    this.session = session;
    this.#parts = parts;
    this.#buttons = [...root.querySelectorAll("[data-action]")];
    parts.name.addEventListener("click", () => on.narrow({ session: this.session.id }));
    for (const button of this.#buttons) button.addEventListener("click", () => this.#act(button, on));
  }

  show(session) {
    this.session = session;
    setText(this.#parts.name, session.id);
    setAttribute(this.#parts.name, "aria-label", `${session.id}: show its downloads`);
    setText(this.#parts.limits, limitWords(session.configuration));
    setText(this.#parts.finish, finishWords(session));
    this.#parts.finish.classList.toggle("attention", session.unacknowledged_since !== null);
    for (const state of shownStates) this.#showCount(state, session.counts[state]);
    this.#showProgress(session);
    keepFocus(this.root, [this.#parts.name], () => {
      for (const button of this.#buttons) this.#showButton(button, session);
    });
  }

  #showCount(state, number) {
    setText(this.#parts[state], count(number));
    this.#parts[state].classList.toggle("none", number === 0);
  }

  #showProgress({ id, progress: { bytes_received: received, bytes_expected: expected }, counts }) {
    const isOwing = outstanding.some((state) => counts[state] > 0);
    this.#parts.bar.hidden = !isOwing;
    const fraction = expected ? Math.min(1, received / expected) : counts.running > 0 ? null : 0;
    setBar(this.#parts.bar, fraction, `Progress of session ${id}`);
    const words = expected ? `${percent(fraction)} of ${bytes(expected)}` : bytes(received);
    setText(this.#parts.bytes, isOwing ? words : "");
  }

  /** The button is not hidden, so that the row keeps its layout, and not `disabled`, because it would lose the focus. */
  #showButton(button, session) {
    const { action } = button.dataset;
    if (action === "acknowledge") button.hidden = session.unacknowledged_since === null;
    if (action === "delete") button.hidden = session.id === "default" || session.state === "finishing";
    setAttribute(button, "aria-disabled", isOpen(action, session) ? null : "true");
    setAttribute(button, "aria-label", labels[action](button.textContent, session.id));
    setAttribute(button, "title", button.textContent);
  }

  async #act(button, on) {
    if (button.getAttribute("aria-disabled")) return;
    if (button.dataset.action === "edit") return on.edit();
    if ((await actOnSession(button.dataset.action, this.session)) !== undefined) on.changed();
  }
}

function isOpen(action, { counts }) {
  const affected = { pause: ["queued", "running", "waiting"], resume: ["paused", "waiting"], cancel: outstanding }[action];
  return !affected || affected.some((state) => counts[state] > 0);
}

const ofDownloads = (words, id) => `${words} downloads of ${id}`;
const ofSession = (words, id) => `${words.replace("…", "")} session ${id}`;
const labels = {
  pause: ofDownloads, resume: ofDownloads, cancel: ofDownloads, acknowledge: ofSession, edit: ofSession, delete: ofSession,
};

function limitWords({ rate_limit_bytes_per_second: rate, max_concurrent_jobs: jobs, directory }) {
  return [
    directory && `in ${directory}`, jobs && `${count(jobs)} at once`, rate && `at most ${rateText(rate)}`,
  ].filter(Boolean).join(", ");
}
