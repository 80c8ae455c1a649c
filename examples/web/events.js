// Shows all events as they happen, with EventSource or, if the service has a token, with a stream that can send it.

import { describe, download, pauseAfter, serviceForm, showFraction, sleep } from "./fetchd.js";
import { TokenStream } from "./token-stream.js";

/** An EventSource delivers only the event types that it has a listener for. */
const types = [
  "job.created", "job.started", "job.resumed", "job.restarted", "job.waiting", "job.paused", "job.succeeded", "job.failed",
  "job.cancelled", "job.deleted", "session.waiting", "session.finished", "webhook.disabled", "webhook.test",
];
const longestLog = 200;

const [form, address, status, alert, list, log] = ["form", "address", "status", "alert", "jobs", "log"].map((id) =>
  document.getElementById(id),
);
const { service, fields } = serviceForm();
/** The last event that was shown; null if everything must be read again. */
let position = null;
/** For each job identifier: the revision of the job, and the elements of its row. */
const rows = new Map();
/** Ends the current stream or pause, so that the next stream starts. */
let renew = () => {};

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    await download(service(), address.value);
    address.value = "";
    alert.textContent = "";
    // The event adds the row, as it does when another client submits a download.
  } catch (error) {
    alert.textContent = error.message;
  }
});
for (const field of fields) field.addEventListener("change", () => ((position = null), renew()));

run();

async function run() {
  for (let failures = 0; ; ) {
    let failure = null;
    try {
      if (position === null) await readEverything();
      failures = (await listen()) ? 0 : failures + 1;
    } catch (error) {
      [failure, failures] = [error, failures + 1];
    }
    const pause = pauseAfter(failures, failure);
    if (failure) tell("Not connected", `${failure.message} Trying again in ${pause} s.`);
    await Promise.race([sleep(pause), new Promise((resolve) => (renew = resolve))]);
  }
}

/** Reads the position before the jobs: an event that happens in between is received twice instead of missed. */
async function readEverything() {
  const { last_event } = (await service().ask("stats")).document;
  const { jobs } = (await service().ask("jobs?limit=20")).document;
  rows.clear();
  list.replaceChildren();
  for (const job of jobs.reverse()) show(job);
  position = last_event;
}

/**
 * Shows the events of one stream until the stream is closed. An EventSource that loses its connection reconnects by itself
 * and continues after its last event.
 *
 * @returns whether the stream was ever open.
 */
function listen() {
  return new Promise((resolve) => {
    const { address, token } = service();
    const url = `${address}/v1/events?after=${position}`;
    const stream = token ? new TokenStream(url, token) : new EventSource(url);
    let wasOpen = false;
    const end = () => (stream.close(), resolve(wasOpen));
    renew = end;
    stream.addEventListener("open", () => ((wasOpen = true), tell("Live", "")));
    for (const type of types) stream.addEventListener(type, (event) => take(JSON.parse(event.data)));
    stream.addEventListener("job.progress", (event) => showProgress(JSON.parse(event.data)));
    // The next events were removed from the journal while the page was not connected.
    stream.addEventListener("reset", () => ((position = null), end()));
    stream.addEventListener("error", async () => {
      // A stream does not report the cause of an error, but another request to the service gets the same error.
      const reason = await service().ask("stats").then(() => "", (error) => error.message);
      if (stream.readyState !== EventSource.OPEN) tell("Not connected", reason);
      // The answer was not a stream, for example because the service is starting. Open another stream.
      if (stream.readyState === EventSource.CLOSED) end();
    });
  });
}

function tell(state, sentence) {
  status.textContent = state;
  alert.textContent = sentence;
}

/** Shows each event once. Identifiers only increase. */
function take(event) {
  if (event.id <= position) return;
  position = event.id;
  const line = document.createElement("li");
  line.dataset.id = event.id;
  line.textContent = `${event.id}: ${event.type} ${event.job ?? event.session}`;
  log.prepend(line);
  if (log.childElementCount > longestLog) log.lastElementChild.remove();
  if (event.type === "job.deleted") forget(event.job);
  else if (event.data.snapshot) show(event.data.snapshot);
  else if (event.job) refresh(event.job);
}

async function refresh(id) {
  // Ignore errors: the stream reports the same error, and the job may have been deleted.
  const answer = await service().ask(`jobs/${id}`).catch(() => null);
  if (answer) show(answer.document);
}

function show(job) {
  const row = rows.get(job.id) ?? newRow(job);
  // Answers may arrive out of order.
  if (job.revision < row.revision) return;
  row.revision = job.revision;
  row.hasEnded = job.finished_at !== null;
  row.name.textContent = job.file?.path ?? job.url;
  row.words.textContent = describe(job);
  showFraction(row.bar, row.hasEnded && job.state !== "succeeded" ? 0 : job.progress.fraction);
}

function showProgress({ job, progress }) {
  const row = rows.get(job);
  if (!row || row.hasEnded) return;
  row.words.textContent = describe({ state: "running", progress });
  showFraction(row.bar, progress.fraction);
}

function newRow(job) {
  const [item, name, bar, words] = ["li", "strong", "progress", "div"].map((tag) => document.createElement(tag));
  bar.max = 1;
  bar.ariaLabel = `Progress of ${job.url}`;
  item.append(name, bar, words);
  list.prepend(item);
  const row = { item, name, bar, words, revision: 0, hasEnded: false };
  rows.set(job.id, row);
  return row;
}

function forget(id) {
  rows.get(id)?.item.remove();
  rows.delete(id);
}
