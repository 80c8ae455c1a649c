// Translates the codes of the service to sentences: what has happened, and what to do next.

import { count, counted, duration, secondsUntil, time } from "./format.js";
import { pausedHostOf, pauseWords } from "./hosts.js";

/** @type {Record<string, string>} */
export const stateNames = {
  running: "Running", queued: "Queued", waiting: "Waiting", paused: "Paused", failed: "Failed", succeeded: "Done",
  cancelled: "Cancelled",
};

/** @type {Record<string, string>} */
const phases = {
  connecting: "Connecting", transferring: "Downloading", verifying: "Checking", promoting: "Moving to its place",
  stopping: "Stopping",
};

/**
 * A job's state in a word or two.
 * @param {Job} job
 */
export function stateWords(job) {
  if (job.state === "running") return phases[job.phase] ?? "Running";
  return stateNames[job.state] ?? job.state;
}

/**
 * A sentence about the job's state; empty if there is nothing to add.
 * @param {Job} job
 */
export function stateNote(job) {
  if (job.failure) return failureSentence(job.failure);
  if (job.state === "waiting") return waitingSentence(job);
  if (job.state === "queued" && job.not_before && secondsUntil(job.not_before) > 0) {
    return `Starts at ${time(job.not_before)}.`;
  }
  if (job.state === "queued") {
    const host = pausedHostOf(job);
    return host ? `${host.host} is ${pauseWords(host)}.` : "";
  }
  if (job.state === "running" && job.resume?.decision === "restarted") {
    return `Started from the beginning: ${restartReasons[job.resume.why] ?? job.resume.why}.`;
  }
  return "";
}

/** @type {Record<string, string>} */
const blockers = {
  not_before: "its start time", schedule: "the schedule of the service", host_paused: "its server, which has refused requests",
  bandwidth: "the next day: its token has received the bytes of this one", session_limit: "a free place in its session",
  host_limit: "its server: the number of connections or requests to it is limited", service_limit: "a free place in the service",
};

/**
 * What a queued download waits for, and its place; null for another one.
 * @param {Job} job
 */
export function queueWords({ queue }) {
  if (!queue) return null;
  const until = queue.until ? `, until ${time(queue.until)}` : "";
  const cause = queue.blocked_by ? `waits for ${blockers[queue.blocked_by] ?? queue.blocked_by}${until}` : "starts soon";
  return queue.position > 0 ? `${counted(queue.position, "download")} of the session before it; ${cause}` : cause;
}

/** @param {Job} job */
function waitingSentence(job) {
  switch (job.reason) {
    case "retry": return `The last attempt failed. ${nextTry(job)}`;
    case "network": return `The service's machine has no network connection. ${nextTry(job)}`;
    case "space": return `The service's disk has too little free space for it. ${nextTry(job)}`;
    case "storage": return `The downloads folder cannot be used: check the service's disk. ${nextTry(job)}`;
    case "credentials": return credentialsSentence(job);
    case "url": return `${job.cause?.message ?? "The address has expired."} Enter a new one to continue.`;
    default: return nextTry(job);
  }
}

/** @param {Job} job */
function credentialsSentence(job) {
  if (job.cause?.code === "proxy_credentials_required") return failureSentence(job.cause);
  const what = job.cause?.message ?? `The server requires credentials${realm(job)}.`;
  return `${what} Enter them to continue.`;
}

/** @param {Job} job */
function nextTry(job) {
  if (!job.retry_at) return "Resume it to continue.";
  const left = secondsUntil(job.retry_at);
  return left < 1 ? "Next attempt now." : `Next attempt in ${duration(left)}.`;
}

/** @param {Job} job */
function realm(job) {
  return job.challenge?.realm ? ` for “${job.challenge.realm}”` : "";
}

/**
 * The failure, and what to do next.
 * @param {Failure} failure
 */
export function failureSentence(failure) {
  const advice = adviceFor(failure);
  return advice ? `${failure.message} ${advice}` : failure.message;
}

/** @param {Failure} failure */
function adviceFor(failure) {
  if (failure.code === "bad_status" && [404, 410].includes(failure.status)) {
    return "Check the address, and add the right one.";
  }
  return advice[failure.code] ?? "";
}

/** @type {Record<string, string>} */
const advice = {
  bad_url: "Check the address, and add the right one.",
  blocked_address: "The settings of fetchd decide where it may connect, such as --allow-network. After a change, retry.",
  name_resolution_failed: "Check the host name in the address, then retry.",
  connect_failed: "Check that the server is running, then retry.",
  connection_lost: "Retry: the download continues from the bytes it has.",
  tls_failed: "Check the server's certificate, or the session's TLS settings, then retry.",
  timed_out: "Retry when the server answers again.",
  too_slow: "Retry later, or lower the session's minimum speed.",
  too_many_redirects: "Open the address in a browser to see where the redirects end, and add that address.",
  bad_status: "Retry later, or ask the server's administrator.",
  credentials_required: "Enter credentials to retry.",
  proxy_credentials_required: "When the session has them, the download continues, or retry it.",
  link_expired: "Enter a new link: the download continues from the bytes it has.",
  truncated: "Retry: the download continues from the bytes it has.",
  size_mismatch: "Check whether the file has changed on the server, and add it again.",
  too_large: "To download it anyway, add it again with a larger limit.",
  checksum_mismatch: "Check the checksum. If it is right, the server has a different file at this address.",
  checksum_unavailable: "Check the address of the checksums, and that the list has the file, then retry.",
  signature_invalid: "The list of checksums is not signed by the given key. Ask the maker of the file before you use it.",
  bad_range: "Retry with one connection.",
  destination_exists: "Move the existing file, then retry, or add the download with another name.",
  destination_invalid: "Add it again with another folder or file name.",
  no_space: "Free some space on the disk, then retry.",
  storage_error: "Check fetchd's log and the disk, then retry.",
  deadline_exceeded: "Retry if you still want the file.",
};

/** @type {Record<string, string>} */
export const restartReasons = {
  etag_changed: "the file on the server has changed (ETag)",
  last_modified_changed: "the file on the server has changed (Last-Modified)",
  size_changed: "the size of the file on the server has changed", range_ignored: "the server sends only whole files",
  bad_range: "the server sent a different range than requested",
  no_validator: "the server does not say whether the file is unchanged", part_missing: "its part file was missing",
  part_shorter_than_recorded: "its part file was shorter than recorded",
  sync_failed: "the disk failed to store some of its bytes",
  overlap_mismatch: "the bytes on the server differ from the stored ones",
  checksum_changed: "the list of checksums has another one for the file",
};

/**
 * The state of a session's batch.
 * @param {Session} session
 */
export function finishWords(session) {
  const owed = ["queued", "running", "waiting", "paused"].reduce((sum, state) => sum + session.counts[state], 0);
  if (session.state === "finishing") return `Ending; ${counted(owed, "download")} left.`;
  if (owed > 0) return `Batch ${count(session.batch)}: ${count(owed)} left`;
  if (session.finish_due_at) return `Batch ${count(session.batch)} is about to finish`;
  if (session.batch === 0) return "No downloads yet";
  if (!session.unacknowledged_since) return `Batch ${count(session.batch)} finished`;
  return `Batch ${count(session.batch)} finished; not acknowledged since ${time(session.unacknowledged_since)}`;
}

/** @type {Record<string, string>} */
const eventNames = {
  "job.created": "Added", "job.started": "Attempt started", "job.resumed": "Resumed",
  "job.restarted": "Started from the beginning", "job.waiting": "Waiting", "job.paused": "Paused",
    "job.moved": "Moved in the queue", "job.succeeded": "Done",
  "job.failed": "Failed", "job.cancelled": "Cancelled", "job.deleted": "Removed",
  "session.waiting": "Session requires action", "session.finished": "Session finished",
  "webhook.disabled": "Webhook disabled", "webhook.test": "Webhook test",
};

/** @param {string} type */
export function eventWords(type) {
  return eventNames[type] ?? type;
}

/** @type {Record<string, string>} */
export const deliveryStates = {
  pending: "Pending", acknowledged: "Accepted", exhausted: "Given up", cancelled: "Cancelled",
};
