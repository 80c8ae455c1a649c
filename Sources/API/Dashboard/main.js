// The dashboard: creates and connects the parts of the page. When the feed delivers an event, the lists are read again from
// the service. The page shows only data that the service has sent.

import { AddDialog } from "./add.js";
import { address, get, query } from "./api.js";
import { coalesced } from "./coalesce.js";
import { showConnection, tickConnection } from "./connection.js";
import { DeliveryLog } from "./deliveries.js";
import { JobDetails } from "./details.js";
import { byID } from "./dom.js";
import { count, jobName } from "./format.js";
import { Feed } from "./feed.js";
import { JobList } from "./jobs.js";
import { announce, complain } from "./notices.js";
import { SessionList } from "./sessions.js";
import { prepareSignIn } from "./signin.js";
import { showThroughput } from "./throughput.js";
import { WebhookList } from "./webhooks.js";
import { failureSentence } from "./words.js";

/** Milliseconds. */
const second = 1000;
const webhookPause = 5000;
const mostMeasured = 1000;

const details = new JobDetails({ changed: (job) => jobs.show(job) });
const jobs = new JobList({ open: (job) => details.open(job), changed: () => readSessions(), failed: showFailure });
const sessions = new SessionList({ narrow: (values) => jobs.narrow(values), changed: readAgain });
const log = new DeliveryLog();
const webhooks = new WebhookList({ openLog: (webhook) => log.open(webhook) });
const add = new AddDialog({ added: () => jobs.showNewest() });
const feed = new Feed({ reset, event: takeEvent, progress: takeProgress, connection: showConnection });

const readSessions = coalesced(async () => {
  try {
    showSessions((await get(address("sessions"))).sessions);
  } catch (error) {
    showFailure(error);
  }
}, second);

function showSessions(list) {
  sessions.show(list);
  jobs.showSessions(list);
  add.showSessions(list, jobs.filters.session);
  sessions.mark(jobs.filters);
  document.title = sessions.running ? `${count(sessions.running)} running · fetchd` : "fetchd";
}

/** The service has answered for the first time, or again after an interruption: everything is read again. */
async function reset(list) {
  showSessions(list);
  webhooks.showSessions(list);
  jobs.refresh();
}

function readAgain() {
  jobs.refresh();
  readSessions();
}

/** While the service is unreachable, the state of the connection already says so; other failures are shown. */
function showFailure(error) {
  if (feed.isConnected && error.status) complain(error);
  else feed.now();
}

// MARK: Events

function takeEvent(event) {
  readAgain();
  if (event.job) details.noteEvent(event.job);
  if (/^(webhook|session)\./.test(event.type)) webhooks.showSessions(sessions.sessions);
  if (event.type === "job.succeeded") announce(`${jobName(event.data.snapshot)} is done.`);
  if (event.type === "job.failed") {
    announce(`${jobName(event.data.snapshot)} failed. ${failureSentence(event.data.snapshot.failure)}`);
  }
}

function takeProgress({ job, progress, phase, data }) {
  const [id, state] = [job ?? data.job, data ?? { progress, phase }];
  jobs.progress(id, state.progress, state.phase);
  details.progress(id, state.progress, state.phase);
}

// MARK: Once a second

/** Milliseconds. Without running downloads, the statistics are read less often. */
const restingPause = 5000;
let measuredAt = 0;

/** Reads the throughput and, without a stream, the progress of each job. */
async function measure() {
  if (!feed.isConnected || document.hidden) return;
  if (sessions.running === 0 && Date.now() - measuredAt < restingPause) return;
  try {
    showThroughput(await get(address("stats")));
    measuredAt = Date.now();
    if (!feed.isStreaming && sessions.running > 0) await readProgress();
  } catch {
    // The feed reports the error.
  }
}

async function readProgress() {
  const running = await get(query(address("jobs"), { state: "running", limit: mostMeasured }));
  for (const job of running.jobs) takeProgress({ job: job.id, progress: job.progress, phase: job.phase });
}

const measureSoon = coalesced(measure, 0);

function everySecond() {
  tickConnection();
  jobs.tick();
  measureSoon();
}

/** Attempts of deliveries are not in the journal, so the webhooks are polled. */
function everyFewSeconds() {
  if (feed.isConnected && !document.hidden) webhooks.showSessions(sessions.sessions);
}

byID("connection-retry").addEventListener("click", () => feed.now());
document.addEventListener("narrowed", () => {
  sessions.mark(jobs.filters);
  add.showSessions(sessions.sessions, jobs.filters.session);
});
prepareSignIn();
feed.start();
everySecond();
setInterval(everySecond, second);
setInterval(everyFewSeconds, webhookPause);
