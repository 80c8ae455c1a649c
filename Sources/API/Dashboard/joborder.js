// The orders of the list of downloads, and its filter by text.

import { jobName } from "./format.js";
import { byBytes, byWords, sorted } from "./sorting.js";
import { stateNames } from "./words.js";

const stateRank = new Map(Object.keys(stateNames).map((state, index) => [state, index]));
const ended = ["succeeded", "failed", "cancelled"];
/** @type {Record<string, number>} */
const priorityRank = { high: 0, normal: 1, low: 2 };

/**
 * The keys of the orders. The list is newest first before it is sorted, so that equal keys stay in that order.
 * @type {Record<string, (job: Job) => any>}
 */
const keys = {
  // What runs, what runs next in the order of the queue, and then the rest, the newest first.
  first: (job) => (job.state === "running" ? "0" : job.state === "queued" ? `1 ${placeInQueue(job)}` : "2"),
  added: (job) => Date.parse(job.created_at),
  name: (job) => wordsOf(job).name,
  state: (job) => stateRank.get(job.state) ?? stateRank.size,
  progress: (job) => job.progress.fraction,
  size: (job) => job.progress.bytes_expected ?? job.file?.size,
  speed: (job) => job.progress.bytes_per_second,
  left: (job) => job.progress.eta_seconds,
  session: (job) => job.session,
  // Of jobs of one priority, the service starts that with the smallest rank first.
  queue: (job) => (ended.includes(job.state) ? null : placeInQueue(job)),
  priority: (job) => priorityRank[job.priority],
};

/** @param {Job} job */
function placeInQueue(job) {
  return `${priorityRank[job.priority]} ${job.queue_rank ?? job.id}`;
}

/**
 * The names of the orders, for the menu.
 * @type {Record<string, string>}
 */
export const orderNames = {
  first: "What runs first", "added,descending": "Newest", added: "Oldest", name: "Name", state: "State",
  "progress,descending": "Progress", "size,descending": "Largest", "speed,descending": "Fastest", left: "Shortest time left",
  session: "Session", priority: "Priority", queue: "Queue",
};

/** The keys whose usual order is the descending one. */
export const descendingFirst = ["progress", "size", "speed", "added"];

/** @param {Job[]} jobs @param {Order} order */
export function inOrder(jobs, { key, isDescending }) {
  const newest = [...jobs].sort((one, other) => (one.id < other.id ? 1 : -1));
  return sorted(newest, keys[key], isDescending, ["first", "queue"].includes(key) ? byBytes : byWords);
}

/**
 * Whether the name, address, path, session or a tag of a job has the text, which is in lower case.
 * @param {Job} job @param {string} text
 */
export function hasText(job, text) {
  return wordsOf(job).text.includes(text);
}

const known = new WeakMap();

/**
 * The name and the searchable text of a job. They are kept, because their derivation costs more than a comparison.
 * @param {Job} job
 */
function wordsOf(job) {
  const mark = job.file?.path ?? job.url;
  const words = known.get(job);
  if (words?.mark === mark && words.filename === job.destination.filename) return words;
  const name = jobName(job);
  const text = [name, job.url, job.file?.path ?? "", job.session, ...job.tags].join("\n").toLowerCase();
  const made = { mark, filename: job.destination.filename, name, text };
  known.set(job, made);
  return made;
}
