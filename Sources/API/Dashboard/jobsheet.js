// The sheet of a download: its state and actions, and as parts an overview, its connections and kept bytes, a timeline of its events
// and their deliveries, and the JSON of the API.

import { FetchdError } from "./client.js";
import { act, actionWords, fetchCommand, isPossible, lack, readJob } from "./actions.js";
import { address, get, query } from "./api.js";
import { change } from "./bulk.js";
import { coalesced } from "./coalesce.js";
import { connectionFacts, fileFacts, jobFacts, partFacts, receiptFacts } from "./facts.js";
import { jobName } from "./format.js";
import { complain, copyButton } from "./notices.js";
import { factList, meter } from "./parts.js";
import { h, icon } from "./render.js";
import { mayUse } from "./scopes.js";
import { rangePlot } from "./segments.js";
import { closeSheet, fillSheet, focusSheet, jsonPart, tabs, takeSheet } from "./sheet.js";
import { supplyForm } from "./supply.js";
import { timeline } from "./timeline.js";
import { leaveSheet } from "./views.js";
import { stateNote, stateWords } from "./words.js";

const mostEvents = 1000;
const mostDeliveries = 200;
const tabNames = { overview: "Overview", connections: "Connections", timeline: "Timeline", json: "JSON" };
const actions = ["pause", "resume", "retry", "file", "change", "cancel", "delete"];

/**
 * [what, its text, whether a job has it].
 * @type {[string, (job: Job) => string | Promise<string>, (job: Job) => boolean][]}
 */
const copies = [
  ["address", (job) => job.url, () => true],
  ["sha-256", (job) => job.file.sha256, (job) => Boolean(job.file)],
  ["identifier", (job) => job.id, () => true],
  ["curl command", fetchCommand, (job) => Boolean(job.file)],
  ["resume data", resumeData, (job) => !job.file && job.progress.bytes_durable > 0 && mayUse("jobs")],
];

export class JobSheet {
  kind = "jobs";
  /** @type {Job | null} */
  #job = null;
  #tab = "overview";
  /** @type {{ part: Job | null, events: ServiceEvent[], deliveries: Delivery[] }} */
  #more = { part: null, events: [], deliveries: [] };
  /**
   * What the user has to supply, and the form for it.
   * @type {{ lack: string | null, form: Element | null }}
   */
  #supply = { lack: null, form: null };
  #on;

  /**
   * @param {{ changed: (id: string, job: Job | null) => void, webhooks: (session: string) => Webhook[] }} on `changed` gets null if the
   *   job was deleted.
   */
  constructor(on) {
    this.#on = on;
    this.refresh = coalesced(() => this.#read(), 500);
  }

  /** @param {string} id @param {string} tab @param {Job} [known] what the page knows of it. */
  async show(id, tab, known) {
    this.#tab = tab in tabNames ? tab : "overview";
    try {
      const isOther = this.#job?.id !== id;
      const job = (isOther ? known : this.#job) ?? (await readJob(id));
      takeSheet(this);
      if (isOther) this.#begin(job);
    } catch (error) {
      complain(error);
      return leaveSheet(this.kind);
    }
    this.#render();
    await this.refresh();
  }

  closed() {
    this.#job = null;
  }

  /**
   * The job has a new event.
   * @param {string} id
   */
  noteEvent(id) {
    if (this.#job?.id === id) this.refresh();
  }

  /** The place of a queued job changes without an event. */
  tick() {
    if (this.#job?.state === "queued") this.refresh();
    else this.#render();
  }

  /** @param {string} id @param {Progress} progress @param {string} [phase] */
  progress(id, progress, phase) {
    if (this.#job?.id !== id || this.#job.state !== "running") return;
    this.#take({ ...this.#job, progress, phase: phase ?? this.#job.phase });
  }

  /** @param {Job} job */
  #begin(job) {
    this.#more = { part: null, events: [], deliveries: [] };
    this.#supply = { lack: null, form: null };
    this.#take(job);
    focusSheet();
  }

  async #read() {
    const id = this.#job?.id;
    if (!id) return;
    try {
      const [job, { events }] = await Promise.all([readJob(id), get(query(address("events"), { job: id, limit: mostEvents }))]);
      const part = await readPart(job);
      const deliveries = this.#tab === "timeline" ? await readDeliveries(this.#on.webhooks(job.session), events) : [];
      if (this.#job?.id !== id) return;
      this.#more = { part, events, deliveries };
      this.#take(job);
    } catch (error) {
      if (error instanceof FetchdError && error.status === 404) return closeSheet(this);
      complain(error);
    }
  }

  /** @param {Job} job */
  #take(job) {
    this.#job = job;
    // The form is replaced only if another value is missing; otherwise the user's input would be lost.
    if (lack(job) !== this.#supply.lack) {
      this.#supply = { lack: lack(job), form: lack(job) ? supplyForm(job, (changed) => this.#changed(changed)) : null };
    }
    this.#render();
  }

  /** @param {Job | null} job null if it was deleted. */
  #changed(job) {
    const id = this.#job?.id;
    if (job) {
      this.#take(job);
      focusSheet();
    } else closeSheet(this);
    if (id) this.#on.changed(id, job);
  }

  #render() {
    const job = this.#job;
    if (!job) return;
    const [{ progress }, note] = [job, stateNote(job)];
    const hasBar = job.state === "running" || (job.state !== "succeeded" && progress.bytes_durable > 0);
    fillSheet(
      this, jobName(job), this.#actions(job),
      hasBar && meter(progress.fraction ?? (job.state === "running" ? null : 0), `Progress of ${jobName(job)}`, "large"),
      note && h("p", { key: "note", class: "advice-box", "data-state": job.state }, `${stateWords(job)}: ${note}`),
      this.#supply.form, tabs(tabNames, this.#tab, ["jobs", job.id]), this.#part(job));
  }

  /** @param {Job} job @returns {Child[]} */
  #part(job) {
    const { part, events, deliveries } = this.#more;
    switch (this.#tab) {
      case "connections":
        return [factList("Connections", connectionFacts(job)), rangePlot(part), factList("Kept for a retry", part ? partFacts(part) : [])];
      case "timeline": return [timeline(events, deliveries)];
      case "json": return [jsonPart(job, copyButton("Copy JSON", "JSON", () => JSON.stringify(this.#job, null, 2)))];
      default:
        return [
          factList("This download", jobFacts(job)), factList("File", job.file ? fileFacts(job) : []),
          factList("Receipt", job.receipt ? receiptFacts(job.receipt) : []),
        ];
    }
  }

  /** @param {Job} job */
  #actions(job) {
    const isOpen = (/** @type {string} */ name) => (name === "change" ? job.state !== "succeeded" : isPossible(name, job));
    const buttons = actions.filter(isOpen).map((name) => h(
      "button", { key: name, type: "button", class: name === "file" ? "quiet" : "quiet needs-jobs", "data-sheet": name,
        onclick: () => this.#act(name) },
      icon(name), h("span", {}, name === "change" ? "Change…" : actionWords(name, job))));
    const present = copies.filter(([, , has]) => has(job)).map(([what, textOf]) => (
      copyButton(`Copy ${what}`, what, () => textOf(/** @type {Job} */ (this.#job)))));
    return h("div", { class: "sheet-actions" }, h("div", {}, buttons), h("div", {}, present));
  }

  /** @param {string} name */
  async #act(name) {
    const job = /** @type {Job} */ (this.#job);
    const changed = name === "change" ? await change([job]).then(() => readJob(job.id)) : await act(name, job);
    if (changed !== undefined) this.#changed(changed);
  }
}

/** @param {Job} job @returns {Promise<Job | null>} the job's resume data; null if it has none. */
async function readPart(job) {
  // Callers that may only read do not get it.
  if (job.file || job.progress.bytes_durable === 0 || !mayUse("jobs")) return null;
  try {
    return await get(address("jobs", job.id, "resume-data"));
  } catch (error) {
    if (error instanceof FetchdError && error.status === 404) return null;
    throw error;
  }
}

/**
 * The deliveries of these events, of the newest of each webhook.
 * @param {Webhook[]} webhooks @param {ServiceEvent[]} events
 */
async function readDeliveries(webhooks, events) {
  const wanted = new Set(events.map((event) => event.id));
  const pages = await Promise.all(webhooks.map(({ session, name }) => (
    get(query(address("sessions", session, "webhooks", name, "deliveries"), { limit: mostDeliveries })))));
  return pages.flatMap((page) => page.deliveries).filter((delivery) => wanted.has(delivery.event));
}

/** @param {Job} job */
async function resumeData(job) {
  return JSON.stringify(await get(address("jobs", job.id, "resume-data")), null, 2);
}
