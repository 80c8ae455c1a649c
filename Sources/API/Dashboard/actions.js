// What can be asked of a job, by its state, as in docs/job-lifecycle.md.

import { address, get, open, post, query, remove, token } from "./api.js";
import { element } from "./dom.js";
import { bytes, jobName } from "./format.js";
import { complain, tell } from "./notices.js";
import { refusalIn } from "./problems.js";
import { ask } from "./question.js";

const possible = {
  pause: ["queued", "running", "waiting"],
  resume: ["waiting", "paused"],
  retry: ["failed", "cancelled"],
  cancel: ["queued", "running", "waiting", "paused"],
  file: ["succeeded"],
  delete: ["succeeded", "failed", "cancelled"],
};

/** Bytes; what passes through the page is in memory as a whole. */
export const largestSave = 250_000_000;

/** `url`, `credentials`, or null when nothing is missing that only a person could supply. */
export function lack(job) {
  if (job.state === "waiting") return ["url", "credentials"].includes(job.reason) ? job.reason : null;
  if (job.failure?.code === "credentials_required") return "credentials";
  return job.failure?.code === "link_expired" ? "url" : null;
}

/** Whether an action does something in the state that the job is in. */
export function isPossible(action, job) {
  if (action === "supply") return lack(job) !== null;
  // It would wait either way.
  if (action === "pause" && lack(job)) return false;
  // What is on its way to its place, or being stopped, is let through.
  const isSettling = job.state === "running" && ["promoting", "stopping"].includes(job.phase);
  return possible[action].includes(job.state) && !isSettling;
}

const words = {
  supply: "Supply…", pause: "Pause", resume: "Resume", retry: "Retry", cancel: "Cancel", file: "Save", delete: "Forget",
};

/** In the reader's words; what waits is not resumed but tried now. */
export function actionWords(action, job) {
  return action === "resume" && job.state === "waiting" ? "Try now" : words[action];
}

/** A mistaken click costs no bytes: a retry goes on from those. */
const optionsOf = (action) => (action === "cancel" ? { produce_resume_data: true } : {});

/** @returns the job as it then is; null when it is gone, undefined when nothing was done. */
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

async function forget(job) {
  const name = jobName(job);
  const answer = await ask(
    `Forget ${name}?`, "It disappears from the list, with its receipt. Its events stay in the journal for a while.",
    "Forget", job.file ? "Delete the file, too" : null);
  if (!answer) return undefined;
  await remove(query(address("jobs", job.id), { file: answer.option ? "delete" : "" }));
  tell(answer.option ? `${name} is forgotten and its file deleted.` : `${name} is forgotten.`);
  return null;
}

// MARK: The file

/** Hands the file to the browser. A link carries no token: where there is one, the page fetches the bytes itself. */
async function save(job) {
  const url = address("jobs", job.id, "file");
  if (!token()) return download(url);
  if (job.file.size > largestSave) {
    const size = `${jobName(job)} has ${bytes(job.file.size)}, too much to pass through this page.`;
    complain(`${size} Open the download: there is a command that fetches it.`);
    return undefined;
  }
  // As long as it takes.
  const response = await open(url, { signal: new AbortController().signal });
  if (!response.ok) throw await refusalIn(response);
  const copy = URL.createObjectURL(await response.blob());
  download(copy, jobName(job));
  setTimeout(() => URL.revokeObjectURL(copy), 60_000);
  return undefined;
}

function download(url, name = "") {
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  return undefined;
}

/** What fetches the file in a terminal; the token is left to the reader, so that no screenshot shows it. */
export function fetchCommand(job) {
  const authorization = token() ? ' -H "Authorization: Bearer $FETCHD_TOKEN"' : "";
  return `curl -OJ${authorization} ${address("jobs", job.id, "file")}`;
}

// MARK: A session's

/** @returns the session as it then is; undefined when nothing was done. */
export async function actOnSession(action, session) {
  if (action === "cancel" && !(await isMeant(session))) return undefined;
  try {
    return await post(address("sessions", session.id, action), optionsOf(action));
  } catch (error) {
    complain(error);
    return undefined;
  }
}

function isMeant(session) {
  const words = "Those that are not done are stopped. Each can be retried, from the bytes that it has.";
  return ask(`Cancel all downloads of ${session.id}?`, words, "Cancel all");
}

export const readJob = (id) => get(address("jobs", id));
