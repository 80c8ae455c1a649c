// Actions on all selected downloads, or on all downloads of the service, in one request.

import { isInQueue, isPossible, optionsOf } from "./actions.js";
import { address, patch, post } from "./api.js";
import { byID, setAttribute } from "./dom.js";
import { askForm } from "./formdialog.js";
import { count, counted } from "./format.js";
import { complain, tell } from "./notices.js";
import { ask } from "./question.js";
import { inOrder } from "./joborder.js";
import { mayUse } from "./scopes.js";
import { rateText, readRate } from "./values.js";

/** @type {Record<string, string>} */
const past = {
  pause: "paused", resume: "resumed", retry: "retried", cancel: "cancelled", remove: "removed", change: "changed",
  top: "moved to the top of the queue", bottom: "moved to the bottom of the queue",
};
/** The largest number of identifiers in a request. */
const mostIDs = 10_000;

/**
 * What is said of downloads that the service has refused, by the code of the problem.
 * @type {Record<string, string>}
 */
const refusals = {
  "not-found": "no longer there", "state-conflict": "in another state by now",
  "session-finishing": "of a session that is about to end", "internal-error": "of files that could not be deleted",
};

/**
 * Carries out an action of `POST /v1/jobs/{action}`, and says how many downloads it has changed.
 * @param {string} action @param {Record<string, any>[]} selections what the requests select, which are sent one after the other.
 * @param {Record<string, any>} members what else each of them has. @param {string} words
 */
async function carryOut(action, selections, members, words = past[action]) {
  let changed = 0;
  const refused = new Map();
  try {
    for (const selection of selections) {
      const result = await post(address("jobs", action), { ...selection, ...members });
      changed += result.changed;
      for (const { code } of result.problems) refused.set(code, (refused.get(code) ?? 0) + 1);
    }
  } catch (error) {
    complain(error);
  }
  if (changed > 0) tell(`${counted(changed, "download")} ${words}.`);
  for (const [code, times] of refused) {
    complain(`${counted(times, "download is", "downloads are")} ${refusals[code] ?? `refused: ${code}`}.`);
  }
}

/** @param {Job[]} jobs */
function byIDs(jobs) {
  const ids = jobs.map((job) => job.id);
  return Array.from({ length: Math.ceil(ids.length / mostIDs) }, (_, index) => (
    { ids: ids.slice(index * mostIDs, (index + 1) * mostIDs) }));
}

/**
 * Pauses or resumes everything: queued downloads are paused first, so that none starts in place of one that was paused.
 * @param {string} action
 */
export function actOnEverything(action) {
  const states = action === "pause" ? ["queued", "waiting", "running"] : ["paused"];
  return carryOut(action, states.map((state) => ({ filter: { state } })), {});
}

export class BulkActions {
  #buttons = /** @type {HTMLElement[]} */ ([...byID("selection-actions").querySelectorAll("[data-bulk]")]);
  #on;

  /** @param {{ selected: () => Job[], done: (jobs: Job[]) => void }} on `done` after each action. */
  constructor(on) {
    this.#on = on;
    for (const button of this.#buttons) button.addEventListener("click", () => this.run(button.dataset.bulk ?? "", button));
  }

  /**
   * Shows which actions the selected downloads allow.
   * @param {Job[]} jobs
   */
  show(jobs) {
    const actions = byID("selection-actions");
    if (jobs.length === 0 && actions.contains(document.activeElement)) byID("select-all").focus();
    actions.hidden = jobs.length === 0;
    for (const button of this.#buttons) {
      const number = jobs.filter((job) => isOpen(button.dataset.bulk ?? "", job)).length;
      if ((button.dataset.bulk ?? "") in ends) button.hidden = !jobs.some(hasQueue);
      setAttribute(button, "aria-disabled", number === 0 ? "true" : null);
    }
  }

  /** @param {string} action @param {HTMLElement | null} button @param {Job[]} some */
  async run(action, button = null, some = this.#on.selected()) {
    if (button?.getAttribute("aria-disabled")) return;
    const jobs = some.filter((job) => isOpen(action, job));
    if (jobs.length === 0) return;
    if (action === "change") await change(jobs);
    else if (action === "delete") await forget(jobs);
    else if (action in ends) await move(action, jobs);
    else if (action !== "cancel" || (await isMeant(jobs))) await carryOut(action, byIDs(jobs), optionsOf(action));
    this.#on.done(jobs);
  }

  /** @param {string[]} ids @param {any} place {before: id} or {after: id}. */
  async move(ids, place) {
    const jobs = ids.map((id) => ({ id }));
    await carryOut("move", byIDs(jobs), place, "moved in the queue");
    this.#on.done(jobs);
  }

  /**
   * Without a question.
   * @param {string} action @param {Job[]} jobs
   */
  async actOn(action, jobs) {
    await carryOut(action, byIDs(jobs), optionsOf(action));
    this.#on.done(jobs);
  }
}

/**
 * Where downloads go. Of many requests, the last one of `top` has the first downloads.
 * @type {Record<string, (selections: object[]) => object[]>}
 */
const ends = { top: (selections) => selections.reverse(), bottom: (selections) => selections };

/**
 * Earlier versions of the service have no queue that can be changed.
 * @param {Job} job
 */
function hasQueue(job) {
  return "queue_rank" in job;
}

/** @param {string} to @param {Job[]} jobs */
function move(to, jobs) {
  const queue = byIDs(inOrder(jobs, { key: "queue", isDescending: false }));
  return carryOut("move", ends[to](queue), { to }, past[to]);
}

/** @param {string} action @param {Job} job */
function isOpen(action, job) {
  if (action in ends) return hasQueue(job) && isInQueue(job);
  return action === "change" ? job.state !== "succeeded" : isPossible(action, job);
}

/** @param {Job[]} jobs */
function isMeant(jobs) {
  const words = "They keep their bytes, and you can retry each of them.";
  return ask(`Cancel ${counted(jobs.length, "download")}?`, words, `Cancel ${count(jobs.length)}`);
}

/** @param {Job[]} jobs */
async function forget(jobs) {
  const hasFile = jobs.some((job) => job.file);
  const answer = await ask(
    `Remove ${counted(jobs.length, "download")}?`,
    "This removes them and their receipts from the list. Their events stay in the journal for a while.",
    `Remove ${count(jobs.length)}`, hasFile ? "Also delete the files" : null);
  if (!answer) return;
  await carryOut("remove", byIDs(jobs), { file: answer.option ? "delete" : "keep" });
}

// MARK: Changing

/**
 * Changes the priority, the rate and the connections of the downloads, and the rate of their sessions.
 * @param {Job[]} jobs
 */
export async function change(jobs) {
  const sessions = mayUse("sessions") ? [...new Set(jobs.map((job) => job.session))].sort() : [];
  const wanted = await askForm({
    heading: `Change ${counted(jobs.length, "download")}`, words: "Fields that you leave empty do not change.",
    submit: "Change", fields: [...jobFields, ...(sessions.length > 0 ? [sessionField(sessions)] : [])], values: {}, send: read,
  });
  if (!wanted) return;
  const { sessionRate, ...fields } = wanted;
  if (Object.keys(fields).length > 0) {
    await carryOut("change", byIDs(jobs), { patch: fields });
  }
  if (sessionRate === undefined) return;
  for (const session of sessions) await limitSession(session, sessionRate);
}

const jobFields = [
  { name: "priority", label: "Priority", options: { "": "as it is", high: "high", normal: "normal", low: "low" } },
  { name: "rate", label: "Rate limit of each", placeholder: "as it is", hint: "Such as 500 KiB/s or 2 MiB/s; 0 removes it." },
  { name: "connections", label: "Connections of each", type: "number", min: 1, max: 16, placeholder: "as it is" },
];

/** @param {string[]} sessions */
function sessionField(sessions) {
  const names = sessions.length > 3 ? counted(sessions.length, "session") : sessions.join(", ");
  return {
    name: "sessionRate", label: `Rate limit of the session (${names})`, placeholder: "as it is",
    hint: "For all downloads of a session together; 0 removes it.",
  };
}

/** @param {Record<string, any>} values */
async function read(values) {
  const wanted = {};
  if (values.priority) wanted.priority = values.priority;
  if (values.rate) wanted.rate_limit_bytes_per_second = readRate(values.rate, "rate");
  if (values.connections) wanted.connections = Number(values.connections);
  if (values.sessionRate) wanted.sessionRate = readRate(values.sessionRate, "sessionRate");
  return wanted;
}

/** @param {string} name @param {number | null} rate */
async function limitSession(name, rate) {
  try {
    await patch(address("sessions", name), { rate_limit_bytes_per_second: rate || null });
    tell(rate ? `The session ${name} is limited to ${rateText(rate)}.` : `The session ${name} has no limit of its own.`);
  } catch (error) {
    complain(error);
  }
}
