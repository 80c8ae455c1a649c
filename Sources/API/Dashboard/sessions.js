// The sessions: a table that declares, edits, pauses, resumes, cancels, acknowledges and deletes them; and the tiles with the
// totals of all sessions.

import { byID, setText } from "./dom.js";
import { count, counted } from "./format.js";
import { complain, tell } from "./notices.js";
import { h, render } from "./render.js";
import { sessionRow } from "./sessionrow.js";
import { declareSession, editSession } from "./sessionform.js";
import { SortableHeads, sorted } from "./sorting.js";
import { stateNames } from "./words.js";

const tileStates = ["running", "queued", "waiting", "paused", "failed", "succeeded"];

export class SessionList {
  /** What the list of downloads is filtered by. */
  #chosen = { session: "", state: "" };
  #order = { key: "name", isDescending: false };
  #heads;
  #on;
  /**
   * The sessions that were last read.
   * @type {Session[]}
   */
  sessions = [];

  /** @param {{ narrow: (values: Partial<Filters>) => void, changed: () => void }} on */
  constructor(on) {
    this.#on = on;
    this.#heads = new SortableHeads(byID("session-heads"), ["progress", ...tileStates], (order) => {
      this.#order = order;
      this.#showRows();
    });
    byID("sessions-text").addEventListener("input", () => this.#showRows());
    byID("session-new").addEventListener("click", () => this.declare());
  }

  /** @param {Session[]} sessions */
  show(sessions) {
    this.sessions = sessions;
    this.#showTiles();
    this.#showRows();
  }

  /**
   * Marks the session and the state that the list of jobs is filtered by.
   * @param {Filters} filters
   */
  mark({ session, state }) {
    this.#chosen = { session, state };
    this.#showTiles();
    this.#showRows();
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

  /** @param {string} id @param {string | null} focus the field of the form to begin with. */
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
      .map((session) => sessionRow(session, session.id === this.#chosen.session, this.listener));
    render(byID("session-rows"), rows);
    this.#heads.show(this.#order);
    byID("sessions-empty").hidden = rows.length > 0;
    setText(byID("sessions-count"), text ? `${count(rows.length)} of ${count(this.sessions.length)}` : counted(rows.length,
      "session"));
  }

  /** What the rows and the sheet of a session do. */
  get listener() {
    return { edit: (/** @type {string} */ id) => this.edit(id), changed: this.#on.changed, narrow: this.#on.narrow };
  }

  /** The numbers of downloads in the states. Each filters the list. */
  #showTiles() {
    const totals = this.totals;
    const all = Object.values(totals).reduce((sum, number) => sum + number, 0);
    render(byID("tiles"), ["", ...tileStates].map((state) => this.#tile(state, state ? totals[state] : all)));
  }

  /** @param {string} state @param {number} number */
  #tile(state, number) {
    const isChosen = this.#chosen.state === state;
    return h("li", {}, h(
      "button", { type: "button", class: number === 0 ? "tile none" : "tile", "data-state": state, "aria-pressed": String(isChosen),
        onclick: () => this.#on.narrow({ state: isChosen ? "" : state }) },
      h("span", { class: "tile-number" }, count(number)), " ", h("span", { class: "tile-name" }, stateNames[state] ?? "All")));
  }
}

/** @type {Record<string, (session: Session) => any>} */
const keys = {
  name: (session) => session.id,
  finish: (session) => session.batch,
  progress: ({ progress }) => (progress.bytes_expected ? progress.bytes_received / progress.bytes_expected : null),
};

/** @param {Session[]} sessions @param {string} state */
function total(sessions, state) {
  return sessions.reduce((sum, session) => sum + session.counts[state], 0);
}
