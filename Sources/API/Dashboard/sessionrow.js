// A session as a row of the table, and what can be done with one.

import { actOnSession } from "./actions.js";
import { bytes, count, percent } from "./format.js";
import { cell, iconButton, meter } from "./parts.js";
import { h } from "./render.js";
import { rateText } from "./values.js";
import { showSheet } from "./views.js";
import { finishWords } from "./words.js";

const shownStates = { running: "running", queued: "queued", waiting: "waiting", paused: "paused", succeeded: "done", failed: "failed" };
const outstanding = ["queued", "running", "waiting", "paused"];

/**
 * [what, its words, its icon, the states of the downloads that it changes].
 * @type {[string, string, string, string[]?][]}
 */
const actions = [
  ["pause", "Pause all", "pause", ["queued", "running", "waiting"]], ["resume", "Resume all", "resume", ["paused", "waiting"]],
  ["cancel", "Cancel all", "cancel", outstanding], ["acknowledge", "Acknowledge", "acknowledge"], ["edit", "Edit…", "change"],
  ["delete", "Delete…", "delete"],
];

/** @typedef {{ edit: (id: string) => void, changed: () => void, narrow: (values: Partial<Filters>) => void }} SessionListener */

/** @param {Session} session @param {boolean} isChosen whether the list of downloads shows this session. @param {SessionListener} on */
export function sessionRow(session, isChosen, on) {
  const limits = limitWords(session.configuration);
  return h(
    "tr", { key: session.id, role: "row", "aria-current": isChosen ? "true" : null },
    h("th", { role: "rowheader", scope: "row", class: "name wide" },
      h("button", { type: "button", class: "link", "data-part": "name", onclick: () => showSheet("sessions", session.id) }, session.id), " ",
      h("span", { class: "about", title: limits }, limits)),
    cell({ class: session.unacknowledged_since ? "wide attention" : "wide" }, finishWords(session)),
    cell({ class: "progress" }, ...sessionProgress(session)),
    ...Object.entries(shownStates).map(([state, label]) => countCell(session, state, label, on)),
    cell({ class: "actions" }, ...sessionActions(session, on).map((action) => iconButton(action.words, action.picture, action.of, {
      key: action.name, class: "needs-sessions", "data-action": action.name, onclick: action.run,
      "aria-label": action.label, "aria-disabled": action.isOpen ? null : "true",
    }))));
}

/**
 * The number leads to the downloads.
 * @param {Session} session @param {string} state @param {string} label @param {SessionListener} on
 */
function countCell({ id, counts }, state, label, on) {
  const number = counts[state];
  const show = () => on.narrow({ session: id, state, tag: "", text: "" });
  return cell(
    { class: number === 0 ? "number none" : "number", "data-part": state, "data-label": label },
    number === 0 ? "0" : h("button", { type: "button", class: "link", "aria-label": `${count(number)} ${label} of ${id}`, onclick: show },
      count(number)));
}

/** @param {Session} session @returns {Child[]} */
export function sessionProgress({ id, progress: { bytes_received: received, bytes_expected: expected }, counts }) {
  if (!outstanding.some((state) => counts[state] > 0)) return [];
  const fraction = expected ? Math.min(1, received / expected) : counts.running > 0 ? null : 0;
  const words = expected ? `${percent(fraction ?? 0)} of ${bytes(expected)}` : bytes(received);
  return [meter(fraction, `Progress of session ${id}`), h("span", { class: "number" }, words)];
}

/**
 * What can be done with a session now.
 * @param {Session} session @param {SessionListener} on
 */
export function sessionActions(session, on) {
  const { id, counts } = session;
  const isThere = (/** @type {string} */ name) => (name === "acknowledge" ? session.unacknowledged_since !== null
    : name !== "delete" || (id !== "default" && session.state !== "finishing"));
  return actions.filter(([name]) => isThere(name)).map(([name, words, picture, states]) => {
    // The button stays, so that the row keeps its layout, and is not `disabled`, because it would lose the focus.
    const isOpen = !states || states.some((state) => counts[state] > 0);
    const label = states ? `${words} downloads of ${id}` : `${words.replace("…", "")} session ${id}`;
    return { name, words, picture, isOpen, label, of: id, run: () => isOpen && act(name, session, on) };
  });
}

/** @param {string} action @param {Session} session @param {SessionListener} on */
async function act(action, session, on) {
  if (action === "edit") return on.edit(session.id);
  if ((await actOnSession(action, session)) !== undefined) on.changed();
}

/** @param {Record<string, any>} configuration */
export function limitWords({ rate_limit_bytes_per_second: rate, max_concurrent_jobs: jobs, directory }) {
  return [
    directory && `in ${directory}`, jobs && `${count(jobs)} at once`, rate && `at most ${rateText(rate)}`,
  ].filter(Boolean).join(", ");
}
