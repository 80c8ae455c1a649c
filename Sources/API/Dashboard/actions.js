// The actions on jobs and sessions. docs/job-lifecycle.md says which actions each state allows.

import { address, get, post, query, remove } from "./api.js";
import { counted, jobName } from "./format.js";
import { complain, tell } from "./notices.js";
import { ask } from "./question.js";
import { element } from "./render.js";
import { needsToken } from "./signin.js";

/** @type {Record<string, string[]>} */
const possible = {
  pause: ["queued", "running", "waiting"],
  resume: ["waiting", "paused"],
  retry: ["failed", "cancelled"],
  cancel: ["queued", "running", "waiting", "paused"],
  file: ["succeeded"],
  delete: ["succeeded", "failed", "cancelled"],
};

/** @param {Job} job @returns `url` or `credentials` if the user must supply it; otherwise null. */
export function lack(job) {
  // The session has the credentials for its proxy.
  if (job.cause?.code === "proxy_credentials_required") return null;
  if (job.state === "waiting") return ["url", "credentials"].includes(job.reason) ? job.reason : null;
  if (job.failure?.code === "credentials_required") return "credentials";
  return job.failure?.code === "link_expired" ? "url" : null;
}

/**
 * Whether an action has an effect in the job's present state.
 * @param {string} action @param {Job} job
 */
export function isPossible(action, job) {
  if (action === "supply") return lack(job) !== null;
  // A paused job would wait just the same.
  if (action === "pause" && lack(job)) return false;
  // A job that is being promoted or stopped reaches another state shortly.
  const isSettling = job.state === "running" && ["promoting", "stopping"].includes(job.phase);
  return possible[action].includes(job.state) && !isSettling;
}

/**
 * Whether the job has a place in the queue, which can change.
 * @param {Job} job
 */
export function isInQueue(job) {
  return ["queued", "waiting", "paused"].includes(job.state);
}

/** @type {Record<string, string>} */
const words = {
  supply: "New link…", pause: "Pause", resume: "Resume", retry: "Retry", cancel: "Cancel", file: "Save", delete: "Remove",
};

/**
 * The label of a button. For a waiting job, `resume` means: try now.
 * @param {string} action @param {Job} job
 */
export function actionWords(action, job) {
  if (action === "supply" && lack(job) === "credentials") return "Credentials…";
  return action === "resume" && job.state === "waiting" ? "Try now" : words[action];
}

/**
 * A cancelled job keeps its bytes, so that a retry after an accidental click continues from them.
 * @param {string} action
 */
export const optionsOf = (action) => (action === "cancel" ? { produce_resume_data: true } : {});

/**
 * @param {string} action @param {Job} job @returns the job after the action; null if it was deleted, undefined if nothing was done.
 */
export async function act(action, job) {
  try {
    if (action === "file") return await save(job);
    if (action === "delete") return await forget(job);
    return await post(address("jobs", job.id, action), optionsOf(action));
  } catch (error) {
    complain(error);
    return undefined;
  }
}

/** @param {Job} job */
async function forget(job) {
  const name = jobName(job);
  const answer = await ask(
    `Remove ${name}?`, "This removes the download and its receipt from the list. Its events stay in the journal for a while.",
    "Remove", job.file ? "Also delete the file" : null);
  if (!answer) return undefined;
  await remove(query(address("jobs", job.id), { file: answer.option ? "delete" : "" }));
  tell(answer.option ? `${name} and its file were deleted.` : `${name} was removed from the list.`);
  return null;
}

// MARK: The file

/**
 * Saves the file in the browser, of any size. A link cannot send the token, so it has a ticket, which admits one request.
 * @param {Job} job
 */
async function save(job) {
  const { ticket } = await post(address("tickets"));
  return download(query(address("jobs", job.id, "file"), { ticket }));
}

/** @param {URL} url */
function download(url) {
  const link = element("a", { href: url, download: "" });
  document.body.append(link);
  link.click();
  link.remove();
  return undefined;
}

/**
 * The command that fetches the file in a terminal. It refers to the token as a variable, so that no screenshot shows it.
 * @param {Job} job
 */
export function fetchCommand(job) {
  const authorization = needsToken() ? ' -H "Authorization: Bearer $FETCHD_TOKEN"' : "";
  return `curl -OJ${authorization} ${address("jobs", job.id, "file")}`;
}

// MARK: Sessions

/**
 * @param {string} action @param {Session} session
 * @returns the session after the action, or null if it is gone; undefined if nothing was done.
 */
export async function actOnSession(action, session) {
  try {
    if (action === "delete") return await deleteSession(session);
    if (action === "acknowledge") return await acknowledge(session);
    if (action === "cancel" && !(await isMeant(session))) return undefined;
    return await post(address("sessions", session.id, action), optionsOf(action));
  } catch (error) {
    complain(error);
    return undefined;
  }
}

/** @param {Session} session */
function isMeant(session) {
  const words = "This cancels all unfinished downloads. They keep their bytes, and you can retry each of them.";
  return ask(`Cancel all downloads of ${session.id}?`, words, "Cancel all");
}

/**
 * Says that all events of the session so far have been processed.
 * @param {Session} session
 */
export async function acknowledge(session) {
  const changed = await post(address("sessions", session.id, "acknowledge"), { through: session.last_event });
  tell(`The finish of the session ${session.id} is acknowledged.`);
  return changed;
}

/** @param {Session} session */
async function deleteSession({ id, counts }) {
  const left = counts.queued + counts.running + counts.waiting + counts.paused;
  const answer = await ask(
    `Delete the session ${id}?`,
    "It takes no more downloads. It ends, with its list and its webhooks, when its last downloads and deliveries have ended. The files stay.",
    "Delete", left > 0 ? `Cancel its ${counted(left, "unfinished download")}` : null);
  if (!answer) return undefined;
  const session = await remove(query(address("sessions", id), { outstanding: answer.option ? "cancel" : "finish" }));
  tell(session ? `The session ${id} ends when its last downloads and deliveries have ended.` : `The session ${id} is deleted.`);
  return session;
}

export const readJob = (/** @type {string} */ id) => get(address("jobs", id));
