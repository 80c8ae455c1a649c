// The sessions: a table that declares, edits, pauses, resumes, cancels, acknowledges and deletes them; and the tiles with the
// totals of all sessions.

import { actOnSession } from "./actions.js";
import { arrange, byID, copyOf, element, setAttribute, setBar, setText } from "./dom.js";
import { bytes, count, counted, percent } from "./format.js";
import { complain, tell } from "./notices.js";
import { declareSession, editSession } from "./sessionform.js";
import { SortableHeads, sorted } from "./sorting.js";
import { rateText } from "./values.js";
import { finishWords, stateNames } from "./words.js";

const tileStates = ["running", "queued", "waiting", "paused", "failed", "succeeded"];
const outstanding = ["queued", "running", "waiting", "paused"];

export class SessionList {
  #rows = new Map();
  #tiles = new Map();
  #chosen = "";
  #order = { key: "name", isDescending: false };
  #heads;
  #on;
  /** The sessions that were last read. */
  sessions = [];

  /** @param on {narrow(values), changed()}. */
  constructor(on) {
    this.#on = on;
    for (const state of tileStates) this.#tiles.set(state, new Tile(state, () => this.#press(state)));
    byID("tiles").append(...[...this.#tiles.values()].map((tile) => tile.root));
    this.#heads = new SortableHeads(byID("session-heads"), ["progress", ...tileStates], (order) => {
      this.#order = order;
      this.#showRows();
    });
    byID("sessions-text").addEventListener("input", () => this.#showRows());
    byID("session-new").addEventListener("click", () => this.declare());
  }

  show(sessions) {
    this.sessions = sessions;
    for (const [state, tile] of this.#tiles) tile.show(total(sessions, state));
    this.#showRows();
  }

  /** Marks the session and the state that the list of jobs is filtered by. */
  mark({ session, state }) {
    this.#chosen = state;
    for (const [name, tile] of this.#tiles) setAttribute(tile.button, "aria-pressed", name === state);
    for (const [name, row] of this.#rows) setAttribute(row.root, "aria-current", name === session ? "true" : null);
  }

  get running() {
    return total(this.sessions, "running");
  }

  /** The number of downloads in each state. */
  get totals() {
    return Object.fromEntries(Object.keys(stateNames).map((state) => [state, total(this.sessions, state)]));
  }

  async declare() {
    const session = await declareSession(this.sessions);
    if (!session) return;
    tell(`The session ${session.id} is there.`);
    this.#on.changed();
  }

  /** @param focus the field of the form to begin with. */
  async edit(id, focus = null) {
    try {
      if (await editSession(id, focus)) {
        tell(`The session ${id} is changed.`);
        this.#on.changed();
      }
    } catch (error) {
      complain(error);
    }
  }

  #showRows() {
    const text = byID("sessions-text").value.trim().toLowerCase();
    const shown = this.sessions.filter((session) => session.id.toLowerCase().includes(text));
    const rows = sorted(shown, keys[this.#order.key] ?? ((session) => session.counts[this.#order.key]), this.#order.isDescending)
      .map((session) => this.#row(session));
    arrange(byID("session-rows"), rows.map((row) => row.root));
    this.#rows = new Map(rows.map((row) => [row.session.id, row]));
    this.#heads.show(this.#order);
    byID("sessions-empty").hidden = rows.length > 0;
    setText(byID("sessions-count"), text ? `${count(rows.length)} of ${count(this.sessions.length)}` : counted(rows.length, "session"));
  }

  #press(state) {
    this.#on.narrow({ state: this.#chosen === state ? "" : state });
  }

  #row(session) {
    const actions = { edit: () => this.edit(session.id), changed: this.#on.changed, narrow: this.#on.narrow };
    const row = this.#rows.get(session.id) ?? new SessionRow(session, actions);
    row.show(session);
    return row;
  }
}

const keys = {
  name: (session) => session.id,
  finish: (session) => session.batch,
  progress: ({ progress }) => (progress.bytes_expected ? progress.bytes_received / progress.bytes_expected : null),
};

function total(sessions, state) {
  return sessions.reduce((sum, session) => sum + session.counts[state], 0);
}

/** A button with the number of jobs in a state. It filters the list by that state. */
class Tile {
  #number = element("span", { class: "tile-number" }, "–");

  constructor(state, press) {
    this.button = element(
      "button", { type: "button", class: "tile", "data-state": state, "aria-pressed": "false", onclick: press },
      this.#number, " ", element("span", { class: "tile-name" }, stateNames[state]));
    this.root = element("li", {}, this.button);
  }

  show(number) {
    setText(this.#number, count(number));
  }
}

class SessionRow {
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
    for (const state of tileStates) this.#showCount(state, session.counts[state]);
    this.#showProgress(session);
    for (const button of this.#buttons) this.#showButton(button, session);
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
