// A download as a row of the list.

import { act, actionWords, isInQueue, isPossible } from "./actions.js";
import { ago, bytes, duration, fullTime, hostOf, jobName, percent, speed } from "./format.js";
import { cell, iconButton, meter } from "./parts.js";
import { h } from "./render.js";
import { mayUse } from "./scopes.js";
import { stateNote, stateWords } from "./words.js";

const actions = ["supply", "pause", "resume", "retry", "cancel", "file", "delete"];

/**
 * @typedef {object} RowListener
 * @property {(job: Job) => void} open
 * @property {(id: string, how: { shiftKey: boolean, isAdded: boolean }) => void} select
 * @property {(id: string, job: Job | null | undefined) => void} changed the job is null if it was deleted.
 */

/** @param {Job} job @param {boolean} isSelected @param {RowListener} on */
export function jobRow(job, isSelected, on) {
  const [name, note] = [jobName(job), stateNote(job)];
  return h(
    "tr", { key: job.id, role: "row", class: isSelected ? "job selected" : "job", "data-state": job.state, "data-job": job.id,
      draggable: String(isInQueue(job) && mayUse("jobs")), onclick: (/** @type {MouseEvent} */ event) => press(event, job, on) },
    cell({ class: "select needs-jobs" }, h("input", {
      type: "checkbox", "data-part": "select", "aria-label": `Select ${name}`, checked: isSelected,
      onclick: (/** @type {MouseEvent} */ { shiftKey }) => on.select(job.id, { shiftKey, isAdded: true }),
    })),
    h("th", { role: "rowheader", scope: "row", class: "name" },
      h("button", { type: "button", class: "link", "data-part": "name", title: name, onclick: () => on.open(job) }, name), " ",
      h("span", { class: "about", "data-part": "origin" }, [hostOf(job.url), job.session, ...job.tags].join(" · "))),
    cell({ class: "job-state" }, h("span", { class: "state", "data-part": "state" }, stateWords(job)),
      h("span", { class: "note", "data-part": "note", title: note || null }, note)),
    ...progressCells(job, name),
    cell({ class: "number job-added", "data-part": "added", title: fullTime(job.created_at) }, ago(job.created_at)),
    cell({ class: "actions" }, ...actions.filter((action) => isPossible(action, job)).map((action) => button(action, job, on))));
}

/** @param {Job} job @param {string} name */
function progressCells({ progress, state }, name) {
  const isUnderWay = state === "running";
  const fraction = progress.fraction ?? (isUnderWay ? null : 0);
  // A bar is for what is on its way.
  const isIdle = !isUnderWay && (fraction === 0 || fraction === 1);
  const { bytes_per_second: rate, eta_seconds: left } = progress;
  return [
    cell({ class: "progress" }, meter(fraction, `Progress of ${name}`, isIdle ? "idle" : ""),
      h("span", { class: "number", "data-part": "bytes" }, progressWords(progress))),
    cell({ class: "number job-speed", "data-part": "speed" }, isUnderWay && rate != null ? speed(rate) : ""),
    cell({ class: "number job-left", "data-part": "left" }, isUnderWay && left != null ? duration(left) : ""),
  ];
}

/** @param {string} action @param {Job} job @param {RowListener} on */
function button(action, job, on) {
  return iconButton(actionWords(action, job), action, jobName(job), {
    key: action, class: action === "file" ? "" : "needs-jobs", "data-action": action,
    onclick: (/** @type {{ currentTarget: HTMLElement }} */ { currentTarget }) => run(action, job, currentTarget, on),
  });
}

/**
 * A click beside the controls selects the row.
 * @param {MouseEvent} event @param {Job} job @param {RowListener} on
 */
function press(event, { id }, on) {
  const selection = window.getSelection();
  const isText = String(selection).length > 0;
  const target = /** @type {Element} */ (event.target);
  if (target.closest("button, input, a") || (isText && !event.shiftKey)) return;
  on.select(id, { shiftKey: event.shiftKey, isAdded: event.ctrlKey || event.metaKey });
  if (event.shiftKey) selection?.removeAllRanges();
}

/** @param {string} action @param {Job} job @param {HTMLElement} button @param {RowListener} on */
async function run(action, job, button, on) {
  if (action === "supply") return on.open(job);
  // The button is not disabled, because a disabled button loses the focus.
  if (button.getAttribute("aria-busy")) return;
  button.setAttribute("aria-busy", "true");
  const changed = await act(action, job);
  button.removeAttribute("aria-busy");
  on.changed(job.id, changed);
}

/**
 * `12 % of 4.19 MiB`; `4.19 MiB` if the size is unknown or the download is complete.
 * @param {Progress} progress
 */
export function progressWords({ bytes_received: received, bytes_expected: expected, fraction }) {
  if (expected == null) return received > 0 ? bytes(received) : "";
  return received >= expected ? bytes(expected) : `${percent(fraction ?? 0)} of ${bytes(expected)}`;
}
