// The table of sessions, and the tiles with the totals of all sessions.

import { actOnSession } from "./actions.js";
import { arrange, byID, copyOf, element, setAttribute, setBar, setText } from "./dom.js";
import { bytes, count, percent } from "./format.js";
import { finishWords, stateNames } from "./words.js";

const tileStates = ["running", "queued", "waiting", "paused", "failed", "succeeded"];
const outstanding = ["queued", "running", "waiting", "paused"];

export class SessionList {
  #rows = new Map();
  #tiles = new Map();
  #chosen = "";
  #on;
  /** The sessions that were last read. */
  sessions = [];

  /** @param on {narrow(values), changed()}. */
  constructor(on) {
    this.#on = on;
    for (const state of tileStates) this.#tiles.set(state, new Tile(state, () => this.#press(state)));
    byID("tiles").append(...[...this.#tiles.values()].map((tile) => tile.root));
  }

  show(sessions) {
    this.sessions = sessions;
    const rows = sessions.map((session) => this.#row(session));
    arrange(byID("session-rows"), rows.map((row) => row.root));
    this.#rows = new Map(rows.map((row) => [row.session.id, row]));
    for (const [state, tile] of this.#tiles) tile.show(total(sessions, state));
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

  get unfinished() {
    return outstanding.reduce((sum, state) => sum + total(this.sessions, state), 0);
  }

  #press(state) {
    this.#on.narrow({ state: this.#chosen === state ? "" : state });
  }

  #row(session) {
    const row = this.#rows.get(session.id) ?? new SessionRow(session, this.#on);
    row.show(session);
    return row;
  }
}

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
  #showButton(button, { id, counts }) {
    const affected = { pause: ["queued", "running", "waiting"], resume: ["paused", "waiting"], cancel: outstanding };
    const action = button.dataset.action;
    setAttribute(button, "aria-disabled", affected[action].some((state) => counts[state] > 0) ? null : "true");
    setAttribute(button, "aria-label", `${button.textContent} downloads of ${id}`);
  }

  async #act(button, on) {
    if (button.getAttribute("aria-disabled")) return;
    if (await actOnSession(button.dataset.action, this.session)) on.changed();
  }
}
