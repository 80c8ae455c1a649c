// Shows all events as they happen, each once, over restarts of the service.

import { client, describe, prepareForm, showFraction } from "./page.js";

const longestLog = 200;
const [form, address, status, alert, list, log] = ["form", "address", "status", "alert", "jobs", "log"].map((id) =>
  document.getElementById(id),
);
/** For each job identifier: the revision of the job, and the elements of its row. */
const rows = new Map();
let [service, feed] = [null, null];

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    await service.add(address.value);
    address.value = "";
    alert.textContent = "";
    // The event adds the row, as it does when another client submits a download.
  } catch (error) {
    alert.textContent = error.message;
  }
});
prepareForm(listen);
listen();

/** Shows the events of the service in the form, in place of those of another one. */
async function listen() {
  feed?.close();
  service = client();
  const current = (feed = service.events({ progress: true, onReset: readEverything, onConnection: showConnection }));
  for await (const event of current) {
    if (event.type === "job.progress") showProgress(event);
    else take(event);
  }
}

function showConnection({ kind, at, error }) {
  const seconds = Math.ceil((at - Date.now()) / 1000);
  status.textContent = kind === "broken" ? "Not connected" : "Live";
  alert.textContent = kind === "broken" ? `${error.message} Trying again in ${seconds} s.` : "";
}

async function readEverything() {
  const jobs = [];
  for await (const job of service.jobs()) if (jobs.push(job.document) === 20) break;
  rows.clear();
  list.replaceChildren();
  for (const job of jobs.reverse()) show(job);
}

function take(event) {
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
  // The feed reports the error, or the job was deleted.
  const job = await service.job(id).catch(() => null);
  if (job) show(job.document);
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
