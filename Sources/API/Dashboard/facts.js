// What is known of a download, as lists of terms and values: its properties, its file, its receipt, and the bytes that are kept.

import { fetchCommand } from "./actions.js";
import { bytes, counted, duration, exactDuration, fullTime, speed } from "./format.js";
import { progressWords } from "./jobrow.js";
import { h } from "./render.js";
import { queueWords, restartReasons, stateWords } from "./words.js";

/** @param {Job} job @returns {Fact[]} */
export function jobFacts(job) {
  const { progress } = job;
  return [
    ["State", stateWords(job)],
    ["In the queue", job.state === "queued" ? queueWords(job) : null],
    ["Next attempt", job.state === "waiting" && job.retry_at ? fullTime(job.retry_at) : null],
    ["Last failure", job.cause ? `${job.cause.message} (${job.cause.code}, attempt ${job.cause.attempts})` : null],
    ["Failure", job.failure ? `${job.failure.code}${job.failure.status ? `,
      status ${job.failure.status}` : ""}, after ${counted(job.failure.attempts, "attempt")}` : null],
    ["Progress", [progressWords(progress), paceWords(progress)].filter(Boolean).join(", ")],
    ["Address", job.url],
    ["Session", link("sessions", job.session, `, batch ${job.batch}`)],
    ["Location", otherLocation(job)],
    ["Folder", job.destination.directory],
    ["File name", job.destination.filename],
    ["If the file exists", job.destination.on_conflict],
    ["Kept on the disk", job.destination.staging === "whole" ? "the whole file, until it is verified" : null],
    ["Started from", job.resume && job.resume.decision !== "fresh" ? resumeWords(job.resume) : null],
    ["Tags", job.tags.join(", ")],
    ["Priority", job.priority === "normal" ? null : job.priority],
    ["Attempts", job.attempts > 0 ? String(job.attempts) : null],
    ["Added", fullTime(job.created_at)],
    ["Starts", job.not_before && fullTime(job.not_before)],
    ["Deadline", job.deadline && fullTime(job.deadline)],
    ["Ended", job.finished_at && fullTime(job.finished_at)],
    ["Metadata", Object.keys(job.metadata).length > 0 ? JSON.stringify(job.metadata) : null],
    ["Identifier", job.id],
  ];
}

/**
 * Where its file goes, or is, if that is not the downloads folder.
 * @param {Job} job
 */
function otherLocation({ file, destination }) {
  const name = file ? file.location : destination.location;
  return name === "default" ? null : name;
}

/**
 * What its next attempt begins with.
 * @param {Job} job @returns {Fact[]}
 */
export function connectionFacts(job) {
  const { progress, challenge } = job;
  return [
    ["Phase", job.state === "running" ? stateWords(job) : null],
    ["Speed", paceWords(progress)],
    ["Safe on disk", progress.bytes_durable > 0 && !job.file ? bytes(progress.bytes_durable) : null],
    ["Attempts", String(job.attempts)],
    ["Started", job.started_at && fullTime(job.started_at)],
    ["Credentials", challenge ? `The server wants ${challenge.scheme}${challenge.realm ? ` for “${challenge.realm}”` : ""}` : null],
    ["Server", job.receipt && [job.receipt.remote_address, job.receipt.protocol].filter(Boolean).join(", ")],
    ["Connected after", job.receipt && exactDuration(job.receipt.timings.connect_seconds)],
    ["First byte after", job.receipt && exactDuration(job.receipt.timings.first_byte_seconds)],
  ];
}

/**
 * A link to a sheet.
 * @param {string} kind @param {string} name @param {string} [rest]
 */
export function link(kind, name, rest = "") {
  return h("span", {}, h("a", { href: `#/${kind}/${name}` }, name), rest);
}

/** @param {{ decision: string, offset: number, why: string }} resume */
function resumeWords({ decision, offset, why }) {
  if (decision === "resumed") return `${bytes(offset)}: the bytes of an earlier attempt`;
  return `the beginning: ${restartReasons[why] ?? why}`;
}

/** @param {Progress} progress */
function paceWords({ bytes_per_second: rate, eta_seconds: left }) {
  if (rate == null) return "";
  return left == null ? speed(rate) : `${speed(rate)}, ${duration(left)} left`;
}

/** @param {Job} job @returns {Fact[]} */
export function fileFacts(job) {
  return [
    ["Path", job.file.path], ["Size", `${bytes(job.file.size)} (${job.file.size} bytes)`], ["sha-256", job.file.sha256],
    ["Object", job.file.url], ["Version", job.file.version_id], ["Type", job.file.content_type], ["Command to fetch it", fetchCommand(job)],
  ];
}

/** @param {Job} receipt @returns {Fact[]} */
export function receiptFacts(receipt) {
  const { timings } = receipt;
  return [
    ["Downloaded from", receipt.final_url],
    ["Redirected from", receipt.redirects.join(" → ")],
    ["Server", [receipt.remote_address, receipt.protocol, `status ${receipt.status}`].filter(Boolean).join(", ")],
    ["ETag", receipt.etag],
    ["Last modified", receipt.last_modified],
    ["Length", receipt.length_verified ? "Verified" : "Not verified: the server did not send the length"],
    ["Digests that agree", receipt.verified_by?.join(", ")],
    ["Checksum from", receipt.checksum && [receipt.checksum.url, receipt.checksum.file].filter(Boolean).join(", ")],
    ["Signed by", receipt.checksum?.signature && [receipt.checksum.signature.key, receipt.checksum.signature.trusted_comment].filter(Boolean).join(", ")],
    ["Mirrors not used", receipt.dropped_mirrors?.map((/** @type {{url: string, message: string}} */ mirror) => `${mirror.url}: ${mirror.message}`).join(" ")],
    ["Resumed by", receipt.resumed_by],
    ["Compressed", receipt.coding && codingWords(receipt.coding)],
    ["Attempts", String(receipt.attempts)],
    ["Connected after", exactDuration(timings.connect_seconds)],
    ["First byte after", exactDuration(timings.first_byte_seconds)],
    ["Transfer took", exactDuration(timings.transfer_seconds)],
    ["Total time", exactDuration(timings.total_seconds)],
  ];
}

/** @param {{ name: string, decoded: boolean, size: number }} coding */
function codingWords(coding) {
  return coding.decoded ? `${coding.name}, decoded from ${bytes(coding.size)}` : `${coding.name}, as the server sent it`;
}

/** @param {Job} part the resume data. @returns {Fact[]} */
export function partFacts(part) {
  const whole = part.bytes_expected ? ` of ${bytes(part.bytes_expected)}` : "";
  return [
    ["Bytes", bytes(part.bytes_durable) + whole],
    ["Segments", part.ranges.length > 1 ? part.ranges.map((/** @type {[number, number]} */ [from, to]) => `${from}–${to}`).join(", ") : null],
    ["ETag", part.etag], ["Last modified", part.last_modified], ["Kept until", part.expires_at && fullTime(part.expires_at)],
  ];
}
