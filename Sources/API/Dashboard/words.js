// What the service says in codes, as sentences: what it is, and what to do next.

import { count, counted, duration, secondsUntil, time } from "./format.js";

export const stateNames = {
  running: "Running", queued: "Queued", waiting: "Waiting", paused: "Paused", failed: "Failed", succeeded: "Done",
  cancelled: "Cancelled",
};

const phases = {
  connecting: "Connecting", transferring: "Downloading", verifying: "Checking", promoting: "Putting in place",
  stopping: "Stopping",
};

/** A job's state in a word or two. */
export function stateWords(job) {
  if (job.state === "running") return phases[job.phase] ?? "Running";
  return stateNames[job.state] ?? job.state;
}

/** What else there is to say of its state; empty when that is all. */
export function stateNote(job) {
  if (job.failure) return failureSentence(job.failure);
  if (job.state === "waiting") return waitingSentence(job);
  if (job.state === "queued" && job.not_before && secondsUntil(job.not_before) > 0) {
    return `Begins at ${time(job.not_before)}.`;
  }
  if (job.state === "running" && job.resume?.decision === "restarted") {
    return `Began anew: ${restartReasons[job.resume.why] ?? job.resume.why}.`;
  }
  return "";
}

function waitingSentence(job) {
  switch (job.reason) {
    case "retry": return `The last try failed. ${nextTry(job)}`;
    case "network": return `This machine has no way to the network. ${nextTry(job)}`;
    case "space": return `The disk is full: make room. ${nextTry(job)}`;
    case "storage": return `The downloads folder does not work: look at the service's disk. ${nextTry(job)}`;
    case "credentials": return `The server asks for credentials${realm(job)}. Supply them, and it goes on.`;
    case "url": return "Its address has expired. Supply a new one, and it goes on.";
    default: return nextTry(job);
  }
}

function nextTry(job) {
  if (!job.retry_at) return "It goes on when somebody resumes it.";
  const left = secondsUntil(job.retry_at);
  return left < 1 ? "It is tried again now." : `It is tried again in ${duration(left)}.`;
}

function realm(job) {
  return job.challenge?.realm ? ` for “${job.challenge.realm}”` : "";
}

/** What happened, and what to do next. */
export function failureSentence(failure) {
  const advice = adviceFor(failure);
  return advice ? `${failure.message} ${advice}` : failure.message;
}

function adviceFor(failure) {
  if (failure.code === "bad_status" && [404, 410].includes(failure.status)) {
    return "Check the address, and add the right one.";
  }
  return advice[failure.code] ?? "";
}

const advice = {
  bad_url: "Check the address, and add the right one.",
  blocked_address: "If it is yours, start fetchd with --allow-network for that network, then retry.",
  name_resolution_failed: "Check the host's name in the address, then retry.",
  connect_failed: "Check that the server is up, then retry.",
  connection_lost: "Retry: it goes on from the bytes that it has.",
  tls_failed: "Check the server's certificate, or the session's TLS settings, then retry.",
  timed_out: "Retry when the server answers again.",
  too_slow: "Retry later, or lower the session's minimum speed.",
  too_many_redirects: "Open the address in a browser to see where it leads, and add the last one.",
  bad_status: "Retry later, or ask whoever runs the server.",
  credentials_required: "Supply credentials, and it is retried.",
  link_expired: "Get a new link and supply it; it goes on from the bytes that it has.",
  truncated: "Retry: it goes on from the bytes that it has.",
  size_mismatch: "Check whether the file has changed at its source, and add it again.",
  too_large: "Add it again with a larger limit if you want it all the same.",
  checksum_mismatch: "Check the checksum. If it is right, the file at that address is another one.",
  bad_range: "Retry with one connection.",
  source_changed: "Retry to get the new version from its beginning.",
  destination_exists: "Move the file that is in its place, or add it under another name, then retry.",
  destination_invalid: "Add it again with another folder or file name.",
  no_space: "Make room on the disk, then retry.",
  storage_error: "Look at fetchd's log and at the disk, then retry.",
  deadline_exceeded: "Retry if it is still wanted.",
};

export const restartReasons = {
  etag_changed: "the file is another one now", last_modified_changed: "the file has changed since",
  size_changed: "the file has another size now", range_ignored: "the server sends only whole files",
  bad_range: "the server sent another range than was asked for",
  no_validator: "the server cannot tell whether the file is still the same", part_missing: "its part was gone",
  part_shorter_than_recorded: "its part was shorter than recorded",
  sync_failed: "the disk failed to store some of its bytes",
};

/** Where a session stands between two finishes. */
export function finishWords(session) {
  const owed = ["queued", "running", "waiting", "paused"].reduce((sum, state) => sum + session.counts[state], 0);
  if (session.state === "finishing") return `Ending; ${counted(owed, "download")} to go.`;
  if (owed > 0) return `Batch ${count(session.batch)}: ${count(owed)} to go`;
  if (session.finish_due_at) return `Batch ${count(session.batch)} is about to finish`;
  if (session.batch === 0) return "Nothing asked for yet";
  if (!session.unacknowledged_since) return `Batch ${count(session.batch)} finished and acknowledged`;
  return `Batch ${count(session.batch)} finished; not acknowledged since ${time(session.unacknowledged_since)}`;
}

const eventNames = {
  "job.created": "Added", "job.started": "Attempt began", "job.resumed": "Went on from where it was",
  "job.restarted": "Began anew", "job.waiting": "Waits", "job.paused": "Paused", "job.succeeded": "Done",
  "job.failed": "Failed", "job.cancelled": "Cancelled", "job.deleted": "Forgotten",
  "session.waiting": "Session needs somebody", "session.finished": "Session finished",
  "webhook.disabled": "Webhook disabled", "webhook.test": "Webhook test",
};

export function eventWords(type) {
  return eventNames[type] ?? type;
}

export const deliveryStates = {
  pending: "On its way", acknowledged: "Accepted", exhausted: "Given up", cancelled: "Cancelled",
};
