// All details of one job: properties, file, receipt, kept bytes and events.

import { FetchdError } from "./client.js";
import { lack, readJob } from "./actions.js";
import { address, get, query } from "./api.js";
import { coalesced } from "./coalesce.js";
import { byID, closeByButtons, element, setBar, setText } from "./dom.js";
import { Facts, fileFacts, jobFacts, partFacts, receiptFacts } from "./facts.js";
import { bytes, jobName, time } from "./format.js";
import { complain } from "./notices.js";
import { mayUse } from "./scopes.js";
import { rangePlot, showRanges } from "./segments.js";
import { SheetActions } from "./sheetactions.js";
import { supplyForm } from "./supply.js";
import { leaveSheet } from "./views.js";
import { eventWords, failureSentence, restartReasons, stateNote, stateWords } from "./words.js";

const mostEvents = 1000;

export class JobDetails {
  #dialog = byID("job-dialog");
  #job = null;
  #lack = null;
  #supply = element("div");
  #advice = element("p", { class: "advice-box", hidden: true });
  #ranges = rangePlot();
  #facts = new Facts("This download");
  #file = new Facts("File");
  #receipt = new Facts("Receipt");
  #kept = new Facts("Kept for a retry");
  #events = element("tbody", { role: "rowgroup" });
  #bar = element("div", { class: "meter", role: "progressbar", "aria-valuemin": 0, "aria-valuemax": 100 }, element("i"));
  #actions;
  #on;

  /** @param on {changed(id, job)}: the job is null if it was deleted. */
  constructor(on) {
    this.#on = on;
    this.#actions = new SheetActions({ changed: (job) => this.#changed(job) });
    closeByButtons(this.#dialog);
    this.#dialog.addEventListener("close", () => {
      // The event comes later than the closing: another download may be shown by then.
      if (this.#dialog.open) return;
      this.#job = null;
      leaveSheet("jobs");
    });
    byID("job-body").append(
      this.#actions.root, this.#bar, this.#advice, this.#supply, this.#ranges, this.#facts.root, this.#file.root,
      this.#receipt.root, this.#kept.root,
      element("section", {}, element("h3", { id: "job-events" }, "Events"), eventTable(this.#events)));
    this.refresh = coalesced(() => this.#read(), 500);
  }

  /** Shows the download of an address; null: none. @param known what the page knows of it. */
  async show(id, known) {
    if (!id) return this.#dialog.open && this.#dialog.close();
    try {
      await this.#open(known ?? (await readJob(id)));
    } catch (error) {
      complain(error);
      leaveSheet("jobs");
    }
  }

  async #open(job) {
    this.#lack = null;
    this.#supply.replaceChildren();
    this.#events.replaceChildren();
    this.#kept.show([]);
    showRanges(this.#ranges, null);
    this.#show(job);
    if (!this.#dialog.open) this.#dialog.showModal();
    // What is missing is what the user has come for.
    (this.#supply.querySelector("input") ?? byID("job-heading")).focus();
    await this.refresh();
  }

  /** The job has a new event. */
  noteEvent(id) {
    if (this.#job?.id === id) this.refresh();
  }

  /** The place of a queued job changes without an event. */
  tick() {
    if (this.#job?.state === "queued") this.refresh();
  }

  progress(id, progress, phase) {
    if (this.#job?.id !== id || this.#job.state !== "running") return;
    this.#show({ ...this.#job, progress, phase: phase ?? this.#job.phase });
  }

  async #read() {
    const id = this.#job?.id;
    if (!id) return;
    try {
      const [job, { events }] = await Promise.all([
        readJob(id), get(query(address("events"), { job: id, limit: mostEvents })),
      ]);
      const part = await readPart(job);
      if (this.#job?.id !== id) return;
      this.#show(job);
      this.#kept.show(part ? partFacts(part) : []);
      showRanges(this.#ranges, part);
      this.#showEvents(events);
    } catch (error) {
      if (error instanceof FetchdError && error.status === 404) return this.#dialog.close();
      complain(error);
    }
  }

  #show(job) {
    this.#job = job;
    setText(byID("job-heading"), jobName(job));
    this.#actions.show(job);
    setBar(this.#bar, job.progress.fraction ?? (job.state === "running" ? null : 0), `Progress of ${jobName(job)}`);
    this.#bar.hidden = job.state === "succeeded" || (job.state !== "running" && job.progress.bytes_durable === 0);
    const note = stateNote(job);
    this.#advice.hidden = !note;
    this.#advice.dataset.state = job.state;
    setText(this.#advice, note ? `${stateWords(job)}: ${note}` : "");
    this.#facts.show(jobFacts(job));
    this.#file.show(job.file ? fileFacts(job) : []);
    this.#receipt.show(job.receipt ? receiptFacts(job.receipt) : []);
    // The form is replaced only if another value is missing; otherwise the user's input would be lost.
    if (lack(job) === this.#lack) return;
    this.#lack = lack(job);
    this.#supply.replaceChildren(...(this.#lack ? [supplyForm(job, (changed) => this.#changed(changed))] : []));
  }

  #changed(job) {
    const { id } = this.#job;
    if (job) {
      this.#show(job);
      byID("job-heading").focus();
    } else {
      this.#dialog.close();
    }
    this.#on.changed(id, job);
  }

  #showEvents(events) {
    const known = this.#events.children.length;
    this.#events.append(...events.slice(known).map(eventRow));
  }
}

/** @returns the job's resume data; null if it has none. */
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

function eventTable(body) {
  const heads = ["Time", "Event", "Details"].map((text) => element("th", { scope: "col", role: "columnheader" }, text));
  return element(
    "table", { class: "events", role: "table", "aria-labelledby": "job-events" },
    element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...heads)), body);
}

function eventRow(event) {
  return element(
    "tr", { role: "row" }, element("td", { role: "cell", class: "number" }, time(event.time)),
    element("td", { role: "cell" }, eventWords(event.type)), element("td", { role: "cell" }, eventNote(event)));
}

function eventNote({ type, data }) {
  switch (type) {
    case "job.started": return `Attempt ${data.attempt}`;
    case "job.resumed": return `From ${bytes(data.offset)}${data.bytes_expected ? ` of ${bytes(data.bytes_expected)}` : ""}`;
    case "job.restarted": return restartReasons[data.why] ?? data.why;
    case "job.waiting": return `${data.failure.message}${data.retry_at ? ` Next attempt at ${time(data.retry_at)}.` : ""}`;
    case "job.paused": return `${bytes(data.bytes_durable)} kept`;
    case "job.failed": return failureSentence(data.snapshot.failure);
    case "job.succeeded": return `${bytes(data.snapshot.file.size)} in ${data.snapshot.file.path}`;
    default: return "";
  }
}
