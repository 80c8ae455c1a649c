// The dashboard: creates and connects the parts of the page. When the feed delivers an event, the parts that it concerns are
// read again from the service. The page shows only data that the service has sent.

import { acknowledge } from "./actions.js";
import { AddDialog } from "./add.js";
import { address, client, get, query } from "./api.js";
import { Attention } from "./attention.js";
import { actOnEverything, BulkActions } from "./bulk.js";
import { coalesced } from "./coalesce.js";
import { showConnection, tickConnection } from "./connection.js";
import { ConsumerList } from "./consumers.js";
import { byID, setText } from "./dom.js";
import { prepareDrop } from "./drop.js";
import { bytes, count, jobName, percent } from "./format.js";
import { askToNotify, canNotify, noteLeft, showFinished } from "./finish.js";
import { prepareFormDialog } from "./formdialog.js";
import { pausedHosts, readHosts } from "./hosts.js";
import { JobList } from "./jobs.js";
import { JobSheet } from "./jobsheet.js";
import { prepareKeys } from "./keys.js";
import { readLocations } from "./locations.js";
import { announce, complain } from "./notices.js";
import { Palette } from "./palette.js";
import { isBound, mayUse } from "./scopes.js";
import { SessionList } from "./sessions.js";
import { SessionSheet } from "./sessionsheet.js";
import { SettingsForm } from "./settings.js";
import { changeLimit, showLimit } from "./limit.js";
import { prepareSheet } from "./sheet.js";
import { prepareSignIn, readCaller } from "./signin.js";
import { supplyCredentials } from "./supply.js";
import { prepareTheme } from "./theme.js";
import { prepareThroughput, showThroughput } from "./throughput.js";
import { prepareViews, showSheet, showView, viewShown } from "./views.js";
import { actOnWebhook } from "./webhookrow.js";
import { WebhookList } from "./webhooks.js";
import { WebhookSheet } from "./webhooksheet.js";
import { prepareRehearsal, showWelcome } from "./welcome.js";
import { failureSentence, stateNames, stateWords } from "./words.js";

/** Milliseconds. */
const second = 1000;
const fewSeconds = 5000;
/** Webhooks that are not in view are read less often: it takes a request for each session. */
const webhookPause = 30_000;
const mostMeasured = 1000;

/** @type {Disk | null} */
let disk = null;
let webhooksReadAt = 0;
/** Under load, what many events change is read less often. */
let isUnderLoad = false;
let eventsLately = 0;
const manyEvents = 25;

const jobSheet = new JobSheet({
  changed: takeChanged, webhooks: (session) => knownWebhooks(session).map(({ webhook }) => webhook),
});
/** @type {JobList} */
const jobs = new JobList({
  open: (job) => showSheet("jobs", job.id), changed: () => readSessions(), failed: showFailure, forget: () => bulk.run("delete"),
  selected: (selected) => bulk.show(selected), move: (ids, place) => bulk.move(ids, place),
});
/** @type {BulkActions} */
const bulk = new BulkActions({ selected: () => jobs.selected, done: (some) => takeMany(some) });
const sessions = new SessionList({ narrow, changed: () => readSessions() });
const webhooks = new WebhookList({
  changed: () => {
    lookAgain();
    sessionSheet.refresh();
  },
});
const sessionSheet = new SessionSheet({
  ...sessions.listener, narrow: only, webhooks: knownWebhooks, declare: (session) => webhooks.declare(session),
});
const webhookSheet = new WebhookSheet();
const consumers = new ConsumerList();
const settings = new SettingsForm();
const add = new AddDialog({ added: (added) => added.forEach((job) => jobs.show(job)) });
const attention = new Attention({
  open: (job) => showSheet("jobs", job.id), narrow, editSession: (id, focus) => sessions.edit(id, focus),
  act: (action, some) => bulk.actOn(action, some),
  credentials: (some, place) => supplyCredentials(some, place, takeChanged),
  webhook: takeWebhookAction, changed: () => lookAgain(),
  acknowledge: acknowledgeAll, showList: () => showView("downloads"), showSessions: () => showView("sessions"),
});
const feed = client.events({ progress: true, onReset: reset, onConnection: showConnection });

const readSessions = coalesced(async () => {
  try {
    showSessions((await get(address("sessions"))).sessions);
  } catch (error) {
    showFailure(error);
  }
}, () => (isUnderLoad ? fewSeconds : second));

const lookAgain = coalesced(async () => {
  attention.show({ jobs: [...jobs.set.jobs.values()], sessions: sessions.sessions, webhooks: webhooks.known, disk });
}, second);

/** It counts the queued downloads, so it is not read with each change. */
const readPauses = coalesced(async () => {
  try {
    await readHosts();
    lookAgain();
  } catch {
    // The feed reports the error.
  }
}, second);

/** @param {Session[]} list */
function showSessions(list) {
  sessions.show(list);
  jobs.showSessions(list);
  jobs.set.check(sessions.totals);
  add.showSessions(list, jobs.filters.session);
  sessionSheet.refresh();
  const { running, queued, waiting, paused } = sessions.totals;
  noteLeft(running + queued + waiting + paused);
  byID("pause-all").hidden = running + queued + waiting === 0;
  byID("resume-all").hidden = paused === 0;
  showTitle(list);
  showWelcome(Object.values(sessions.totals).every((number) => number === 0));
  lookAgain();
}

/**
 * The title says how far the downloads are, also in a tab that is behind others.
 * @param {Session[]} list
 */
function showTitle(list) {
  const { running } = sessions;
  if (running === 0) return void (document.title = "fetchd");
  const sum = (/** @type {string} */ member) => list.reduce((total, { progress }) => total + (progress[member] ?? 0), 0);
  const expected = sum("bytes_expected");
  const share = expected > 0 ? `${percent(Math.min(1, sum("bytes_received") / expected))} · ` : "";
  document.title = `${share}${count(running)} running · fetchd`;
}

/**
 * The service has answered for the first time, or again after an interruption: everything is read again.
 * @param {Session[]} list
 */
async function reset(list) {
  showSessions(list);
  readWebhooks();
  readPauses();
  jobs.reload();
  jobSheet.refresh();
  readCaller();
  readLocations();
  showLimit();
}

/**
 * While the service is unreachable, the state of the connection already says so; other failures are shown.
 * @param {any} error
 */
function showFailure(error) {
  if (feed.isConnected && error.status) complain(error);
  else feed.retryNow();
}

/**
 * Shows the downloads with these filters.
 * @param {Partial<Filters>} values
 */
function narrow(values) {
  jobs.narrow(values);
  showView("downloads");
}

/**
 * With these filters and no others.
 * @param {Partial<Filters>} values
 */
function only(values) {
  narrow({ session: "", state: "", tag: "", text: "", ...values });
}

/**
 * An action has changed a job, or deleted it: then the job is null.
 * @param {string} id @param {Job | null} job
 */
function takeChanged(id, job) {
  if (job) jobs.show(job);
  else jobs.forget(id);
}

/**
 * An action on many has ended.
 * @param {Job[]} some
 */
function takeMany(some) {
  jobs.reread(some);
  readSessions();
}

/** @param {string} session */
function knownWebhooks(session) {
  return webhooks.known.filter(({ webhook }) => webhook.session === session);
}

/** @param {string} action @param {Webhook} webhook */
async function takeWebhookAction(action, webhook) {
  if (action === "log") return showSheet("webhooks", webhook.session, webhook.name);
  if (action === "edit") return webhooks.edit(webhook);
  await actOnWebhook(action, webhook);
  readWebhooks();
}

/** @param {Session[]} some */
async function acknowledgeAll(some) {
  try {
    for (const session of some) await acknowledge(session);
  } catch (error) {
    complain(error);
  }
  readSessions();
}

// MARK: Events

async function takeEvents() {
  for await (const event of feed) {
    try {
      if (event.type === "job.progress") takeProgress(event);
      else takeEvent(event);
    } catch (error) {
      complain(error);
    }
  }
}

/** @param {ServiceEvent} event */
function takeEvent(event) {
  jobs.noteEvent(event);
  eventsLately += 1;
  readSessions();
  if (event.job) jobSheet.noteEvent(event.job);
  if (/^(webhook|session)\./.test(event.type)) readWebhooks();
  if (event.type === "session.finished") showFinished(event);
  if (event.type === "job.created") showFinished(null);
  if (event.type === "job.succeeded") announce(`${jobName(event.data.snapshot)} is done.`);
  if (event.type === "job.failed") {
    announce(`${jobName(event.data.snapshot)} failed. ${failureSentence(event.data.snapshot.failure)}`);
  }
}

/** @param {ServiceEvent} event */
function takeProgress({ job, progress, phase, data }) {
  const [id, state] = [job ?? data.job, data ?? { progress, phase }];
  jobs.progress(id, state.progress, state.phase);
  jobSheet.progress(id, state.progress, state.phase);
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
    if (!feed.isStreaming && sessions.running > 0) await readProgress();
    measuredAt = Date.now();
    // A token that is bound to sessions does not see the whole service.
    if (!isBound()) await readStatistics();
  } catch {
    // The feed reports the error.
  }
}

async function readStatistics() {
  const stats = await get(address("stats"));
  disk = stats.disk ?? null;
  byID("disk").hidden = !disk;
  if (disk) setText(byID("disk"), `${bytes(disk.free_bytes)} of ${bytes(disk.total_bytes)} free`);
  await showThroughput(stats);
}

async function readProgress() {
  const running = await get(query(address("jobs"), { state: "running", limit: mostMeasured }));
  // The stream has begun to speak meanwhile, and what it says is newer.
  if (feed.isStreaming) return;
  for (const job of running.jobs) takeProgress({ job: job.id, progress: job.progress, phase: job.phase });
}

const measureSoon = coalesced(measure, 0);

function everySecond() {
  tickConnection();
  jobs.tick();
  measureSoon();
}

/** Attempts of deliveries are not in the journal, and some changes of downloads have no event: these are read by the clock. */
function everyFewSeconds() {
  isUnderLoad = eventsLately > manyEvents;
  eventsLately = 0;
  if (!feed.isConnected || document.hidden) return;
  readSessions();
  if (sessions.totals.queued > 0 || pausedHosts().length > 0) readPauses();
  jobSheet.tick();
  if (viewShown() === "webhooks" || Date.now() - webhooksReadAt > webhookPause) readWebhooks();
}

function readWebhooks() {
  webhooksReadAt = Date.now();
  webhooks.showSessions(sessions.sessions);
  if (viewShown() === "webhooks") consumers.refresh();
}

for (const action of ["pause", "resume"]) {
  byID(`${action}-all`).addEventListener("click", async () => {
    await actOnEverything(action);
    jobs.reload();
    readSessions();
  });
}
byID("limit-open").addEventListener("click", () => changeLimit());
byID("connection-retry").addEventListener("click", () => feed.retryNow());
document.addEventListener("narrowed", () => {
  sessions.mark(jobs.filters);
  add.showSessions(sessions.sessions, jobs.filters.session);
});
new Palette((text) => {
  /** @type {import("./palette.js").Entry[]} */
  const all = [...commands(), ...sessions.sessions.map(({ id }) => ({ name: id, kind: "session", run: () => showSheet("sessions", id) }))];
  const entries = all.filter(({ name, needs }) => name.toLowerCase().includes(text) && mayUse(needs ?? "read"));
  const found = text ? jobs.named(text) : [];
  return [...entries, ...found.map((job) => ({ name: jobName(job), kind: stateWords(job), run: () => showSheet("jobs", job.id) }))];
});

/** What the palette can do. */
function commands() {
  const view = (/** @type {string} */ name, /** @type {string} */ id) => ({ name, kind: "view", run: () => showView(id) });
  const press = (/** @type {string} */ name, /** @type {string} */ id, /** @type {string} */ needs) => (
    { name, kind: "action", needs, run: () => byID(id).click() });
  return [
    press("Add downloads", "add-open", "jobs"), ...["pause", "resume"].filter((action) => !byID(`${action}-all`).hidden)
      .map((action) => press(action === "pause" ? "Pause all" : "Resume all", `${action}-all`, "jobs")),
    ...(isBound() ? [] : [press("Limit the service", "limit-open", "sessions")]),
    press("New session", "session-new", "sessions"), press("New webhook", "webhook-new", "sessions"),
    view("Downloads", "downloads"), view("Sessions", "sessions"), view("Webhooks", "webhooks"),
    ...(isBound() ? [] : [{ ...view("Settings", "settings"), needs: "sessions" }]),
    ...Object.entries(stateNames).map(([state, name]) => (
      { name: `${name} downloads`, kind: "filter", run: () => only({ state }) })),
    ...(canNotify() ? [{ name: "Notify me when the last download ends", kind: "action", run: askToNotify }] : []),
    { name: "Keys", kind: "help", run: () => byID("keys-dialog").showModal() },
  ];
}

prepareRehearsal((job) => jobs.show(job));
byID("welcome-add").addEventListener("click", () => add.open());
prepareTheme();
prepareKeys({
  add: () => add.open(""),
  act: (action, id) => {
    const some = jobs.selected.length > 0 ? jobs.selected : [jobs.set.jobs.get(id ?? "") ?? []].flat();
    bulk.run(action, null, some);
  },
});
prepareFormDialog();
prepareSheet();
prepareThroughput();
prepareDrop((text) => add.open(text));
prepareViews({
  changed: (view) => {
    if (view === "settings") settings.open();
    if (view === "webhooks" && feed.isConnected) readWebhooks();
  },
  narrowed: (query) => jobs.restore(query),
  sheet: (parts) => {
    const [kind, name, part] = parts ?? [];
    if (kind === "jobs") jobSheet.show(name, part, jobs.set.jobs.get(name));
    if (kind === "sessions") sessionSheet.show(name, part);
    if (kind === "webhooks") webhookSheet.show(name, part);
  },
});
document.addEventListener("scoped", () => viewShown() === "settings" && settings.open());
prepareSignIn();
takeEvents();
everySecond();
setInterval(everySecond, second);
setInterval(everyFewSeconds, fewSeconds);
