// Actions on all selected downloads at once. The service has an action for each download, so the page sends a few requests
// at a time, shows how far it is, and can be stopped.

import { isPossible, optionsOf } from "./actions.js";
import { address, get, patch, post, put, query, remove } from "./api.js";
import { byID, keepFocus, setAttribute } from "./dom.js";
import { askForm } from "./formdialog.js";
import { count, counted } from "./format.js";
import { showProgress, tell, complain } from "./notices.js";
import { sentence } from "./problems.js";
import { ask } from "./question.js";
import { inOrder } from "./joborder.js";
import { mayUse } from "./scopes.js";
import { rateText, readRate } from "./values.js";

/** A browser opens six connections to a host, and one has the stream. */
const usuallyAtOnce = 5;

const past = {
  pause: "paused", resume: "resumed", retry: "retried", cancel: "cancelled", delete: "forgotten", change: "changed",
  top: "moved to the top of the queue", bottom: "moved to the bottom of the queue",
};
const inQueue = ["queued", "waiting", "paused"];

/**
 * Does one thing with many jobs, a few at a time.
 *
 * @param work resolves with the job after it, or null if the job was deleted.
 * @param atOnce the number of requests at a time; 1 keeps their order.
 * @returns how many succeeded.
 */
export async function onAll(jobs, words, work, changed, atOnce = usuallyAtOnce) {
  const refusals = new Map();
  const queue = [...jobs];
  let done = 0;
  const progress = queue.length > usuallyAtOnce ? showProgress(() => queue.splice(0)) : null;
  const worker = async () => {
    for (let job = queue.shift(); job; job = queue.shift()) {
      try {
        changed(job.id, await work(job));
        done += 1;
      } catch (error) {
        const text = sentence(error).replaceAll(job.id, "the download");
        refusals.set(text, (refusals.get(text) ?? 0) + 1);
      }
      progress?.show(done, jobs.length, words);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  progress?.end();
  if (done > 0) tell(`${counted(done, "download")} ${words}.`);
  for (const [text, times] of [...refusals].slice(0, 3)) complain(times > 1 ? `${count(times)} times: ${text}` : text);
  return done;
}

export class BulkActions {
  #buttons = [...byID("selection-actions").querySelectorAll("[data-bulk]")];
  #on;

  /** @param on {selected(), changed(id, job), done()}. */
  constructor(on) {
    this.#on = on;
    for (const button of this.#buttons) button.addEventListener("click", () => this.run(button.dataset.bulk, button));
  }

  /** Shows which actions the selected downloads allow. */
  show(jobs) {
    const actions = byID("selection-actions");
    keepFocus(actions, [byID("select-all")], () => {
      actions.hidden = jobs.length === 0;
    });
    for (const button of this.#buttons) {
      const number = jobs.reduce((sum, job) => sum + isOpen(button.dataset.bulk, job), 0);
      if (button.dataset.bulk in ends) button.hidden = !jobs.some(hasQueue);
      setAttribute(button, "aria-disabled", number === 0 ? "true" : null);
    }
  }

  async run(action, button = null) {
    if (button?.getAttribute("aria-disabled")) return;
    const jobs = this.#on.selected().filter((job) => isOpen(action, job));
    if (jobs.length === 0) return;
    if (action === "change") await change(jobs, this.#on.changed);
    else if (action === "delete") await forget(jobs, this.#on.changed);
    else if (action in ends) await move(action, jobs, this.#on.changed);
    else if (action !== "cancel" || (await isMeant(jobs))) await this.actOn(action, jobs);
    this.#on.done();
  }

  /** Without a question. */
  actOn(action, jobs) {
    const work = (job) => post(address("jobs", job.id, action), optionsOf(action));
    return onAll(jobs, past[action], work, this.#on.changed);
  }
}

/** Where a download goes, and in which order several are sent so that they keep their order. */
const ends = { top: (jobs) => jobs.reverse(), bottom: (jobs) => jobs };

/** Earlier versions of the service have no queue that can be changed. */
function hasQueue(job) {
  return "queue_rank" in job;
}

function move(to, jobs, changed) {
  const queue = ends[to](inOrder(jobs, { key: "queue", isDescending: false }));
  return onAll(queue, past[to], (job) => post(address("jobs", job.id, "move"), { to }), changed, 1);
}

function isOpen(action, job) {
  if (action in ends) return hasQueue(job) && inQueue.includes(job.state);
  return action === "change" ? job.state !== "succeeded" : isPossible(action, job);
}

function isMeant(jobs) {
  const words = "They keep their bytes, and you can retry each of them.";
  return ask(`Cancel ${counted(jobs.length, "download")}?`, words, `Cancel ${count(jobs.length)}`);
}

async function forget(jobs, changed) {
  const hasFile = jobs.some((job) => job.file);
  const answer = await ask(
    `Forget ${counted(jobs.length, "download")}?`,
    "This removes them and their receipts from the list. Their events stay in the journal for a while.",
    `Forget ${count(jobs.length)}`, hasFile ? "Also delete the files" : null);
  if (!answer) return;
  const file = answer.option ? "delete" : "";
  await onAll(jobs, past.delete, (job) => remove(query(address("jobs", job.id), { file })), changed);
}

// MARK: Changing

/** Changes the priority, the rate and the connections of the downloads, and the rate of their sessions. */
async function change(jobs, changed) {
  const sessions = mayUse("sessions") ? [...new Set(jobs.map((job) => job.session))].sort() : [];
  const wanted = await askForm({
    heading: `Change ${counted(jobs.length, "download")}`, words: "Fields that you leave empty do not change.",
    submit: "Change", fields: [...jobFields, ...(sessions.length > 0 ? [sessionField(sessions)] : [])], values: {}, send: read,
  });
  if (!wanted) return;
  const { sessionRate, ...fields } = wanted;
  if (Object.keys(fields).length > 0) {
    await onAll(jobs, past.change, (job) => patch(address("jobs", job.id), fields), changed);
  }
  if (sessionRate === undefined) return;
  for (const session of sessions) await limitSession(session, sessionRate);
}

const jobFields = [
  { name: "priority", label: "Priority", options: { "": "as it is", high: "high", normal: "normal", low: "low" } },
  { name: "rate", label: "Rate limit of each", placeholder: "as it is", hint: "Such as 500 KiB/s or 2 MiB/s; 0 removes it." },
  { name: "connections", label: "Connections of each", type: "number", min: 1, max: 16, placeholder: "as it is" },
];

function sessionField(sessions) {
  const names = sessions.length > 3 ? counted(sessions.length, "session") : sessions.join(", ");
  return {
    name: "sessionRate", label: `Rate limit of the session (${names})`, placeholder: "as it is",
    hint: "For all downloads of a session together; 0 removes it.",
  };
}

async function read(values) {
  const wanted = {};
  if (values.priority) wanted.priority = values.priority;
  if (values.rate) wanted.rate_limit_bytes_per_second = readRate(values.rate, "rate");
  if (values.connections) wanted.connections = Number(values.connections);
  if (values.sessionRate) wanted.sessionRate = readRate(values.sessionRate, "sessionRate");
  return wanted;
}

async function limitSession(name, rate) {
  try {
    const { configuration } = await get(address("sessions", name));
    await put(address("sessions", name), { ...configuration, directory: configuration.directory || null,
      rate_limit_bytes_per_second: rate });
    tell(rate ? `The session ${name} is limited to ${rateText(rate)}.` : `The session ${name} has no limit of its own.`);
  } catch (error) {
    complain(error);
  }
}
