// The sessions: a table that declares, edits, pauses, resumes, cancels, acknowledges and deletes them; and the tiles with the
// totals of all sessions.

import { arrange, byID, element, setAttribute, setText } from "./dom.js";
import { count, counted } from "./format.js";
import { complain, tell } from "./notices.js";
import { SessionRow } from "./sessionrow.js";
import { declareSession, editSession } from "./sessionform.js";
import { SortableHeads, sorted } from "./sorting.js";
import { stateNames } from "./words.js";

const tileStates = ["running", "queued", "waiting", "paused", "failed", "succeeded"];

export class SessionList {
  #rows = new Map();
  #tiles = new Map();
  #all;
  #chosen = "";
  #order = { key: "name", isDescending: false };
  #heads;
  #on;
  /** The sessions that were last read. */
  sessions = [];

  /** @param on {narrow(values), changed()}. */
  constructor(on) {
    this.#on = on;
    this.#all = new Tile("", () => this.#on.narrow({ state: "" }));
    byID("tiles").append(this.#all.root);
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
    this.#all.show(Object.keys(stateNames).reduce((sum, state) => sum + total(sessions, state), 0));
    this.#showRows();
  }

  /** Marks the session and the state that the list of jobs is filtered by. */
  mark({ session, state }) {
    this.#chosen = state;
    setAttribute(this.#all.button, "aria-pressed", state === "");
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
    setText(byID("sessions-count"), text ? `${count(rows.length)} of ${count(this.sessions.length)}` : counted(rows.length,
      "session"));
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
      this.#number, " ", element("span", { class: "tile-name" }, stateNames[state] ?? "All"));
    this.root = element("li", {}, this.button);
  }

  show(number) {
    setText(this.#number, count(number));
    this.button.classList.toggle("none", number === 0);
  }
}
