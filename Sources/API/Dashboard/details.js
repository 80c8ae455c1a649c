// All details of one job: properties, file, receipt, kept bytes and events.

import { fetchCommand, lack, readJob } from "./actions.js";
import { address, get, query } from "./api.js";
import { coalesced } from "./coalesce.js";
import { byID, closeByButtons, element, setText } from "./dom.js";
import { bytes, count, counted, duration, exactDuration, fullTime, jobName, speed, time } from "./format.js";
import { progressWords } from "./jobrow.js";
import { complain } from "./notices.js";
import { Refusal } from "./problems.js";
import { mayUse } from "./scopes.js";
import { supplyForm } from "./supply.js";
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
  #on;

  /** @param on {changed(job)}. */
  constructor(on) {
    this.#on = on;
    closeByButtons(this.#dialog);
    this.#dialog.addEventListener("close", () => (this.#job = null));
    byID("job-body").append(
      this.#advice, this.#supply, this.#ranges, this.#facts.root, this.#file.root, this.#receipt.root, this.#kept.root,
      element("section", {}, element("h3", { id: "job-events" }, "Events"), eventTable(this.#events)));
    this.refresh = coalesced(() => this.#read(), 500);
  }

  async open(job) {
    this.#lack = null;
    this.#supply.replaceChildren();
    this.#events.replaceChildren();
    this.#kept.show([]);
    showRanges(this.#ranges, null);
    this.#show(job);
    this.#dialog.showModal();
    byID("job-heading").focus();
    await this.refresh();
  }

  /** The job has a new event. */
  noteEvent(id) {
    if (this.#job?.id === id) this.refresh();
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
      if (error instanceof Refusal && error.status === 404) return this.#dialog.close();
      complain(error);
    }
  }

  #show(job) {
    this.#job = job;
    setText(byID("job-heading"), jobName(job));
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
    this.#show(job);
    byID("job-heading").focus();
    this.#on.changed(job);
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
    if (error instanceof Refusal && error.status === 404) return null;
    throw error;
  }
}

/** A list of terms and values. It is updated in place, and hidden when it is empty. */
class Facts {
  #list = element("dl");
  #shown = new Map();

  constructor(heading) {
    this.root = element("section", { hidden: true }, element("h3", {}, heading), this.#list);
  }

  show(facts) {
    const there = facts.filter(([, text]) => text != null && text !== "");
    this.root.hidden = there.length === 0;
    if (there.map(([term]) => term).join() === [...this.#shown.keys()].join()) {
      for (const [term, text] of there) setText(this.#shown.get(term), text);
      return;
    }
    this.#shown = new Map(there.map(([term, text]) => [term, element("dd", {}, text)]));
    const pairs = [...this.#shown].map(([term, place]) => element("div", {}, element("dt", {}, term), place));
    this.#list.replaceChildren(...pairs);
  }
}

function jobFacts(job) {
  const { progress } = job;
  return [
    ["State", stateWords(job)],
    ["Next attempt", job.state === "waiting" && job.retry_at ? fullTime(job.retry_at) : null],
    ["Last failure", job.cause ? `${job.cause.message} (${job.cause.code}, attempt ${job.cause.attempts})` : null],
    ["Failure", job.failure ? `${job.failure.code}${job.failure.status ? `, status ${job.failure.status}` : ""}, after ${counted(job.failure.attempts, "attempt")}` : null],
    ["Progress", [progressWords(progress), paceWords(progress)].filter(Boolean).join(", ")],
    ["Safe on disk", progress.bytes_durable > 0 && !job.file ? bytes(progress.bytes_durable) : null],
    ["Address", job.url],
    ["Session", `${job.session}, batch ${job.batch}`],
    ["Folder", job.destination.directory],
    ["File name", job.destination.filename],
    ["If the file exists", job.destination.on_conflict],
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

function resumeWords({ decision, offset, why }) {
  if (decision === "resumed") return `${bytes(offset)}: the bytes of an earlier attempt`;
  return `the beginning: ${restartReasons[why] ?? why}`;
}

function paceWords({ bytes_per_second: rate, eta_seconds: left }) {
  if (rate == null) return "";
  return left == null ? speed(rate) : `${speed(rate)}, ${duration(left)} left`;
}

function fileFacts(job) {
  return [
    ["Path", job.file.path], ["Size", `${bytes(job.file.size)} (${job.file.size} bytes)`], ["sha-256", job.file.sha256],
    ["Type", job.file.content_type], ["Command to fetch it", fetchCommand(job)],
  ];
}

function receiptFacts(receipt) {
  const { timings } = receipt;
  return [
    ["Downloaded from", receipt.final_url],
    ["Redirected from", receipt.redirects.join(" → ")],
    ["Server", [receipt.remote_address, receipt.protocol, `status ${receipt.status}`].filter(Boolean).join(", ")],
    ["ETag", receipt.etag],
    ["Last modified", receipt.last_modified],
    ["Length", receipt.length_verified ? "Verified" : "Not verified: the server did not send the length"],
    ["Compressed", receipt.coding && codingWords(receipt.coding)],
    ["Attempts", String(receipt.attempts)],
    ["Connected after", exactDuration(timings.connect_seconds)],
    ["First byte after", exactDuration(timings.first_byte_seconds)],
    ["Transfer took", exactDuration(timings.transfer_seconds)],
    ["Total time", exactDuration(timings.total_seconds)],
  ];
}

function codingWords(coding) {
  return coding.decoded ? `${coding.name}, decoded from ${bytes(coding.size)}` : `${coding.name}, as the server sent it`;
}

function partFacts(part) {
  const whole = part.bytes_expected ? ` of ${bytes(part.bytes_expected)}` : "";
  return [
    ["Bytes", bytes(part.bytes_durable) + whole],
    ["Segments", part.ranges.length > 1 ? part.ranges.map(([from, to]) => `${from}–${to}`).join(", ") : null],
    ["ETag", part.etag], ["Last modified", part.last_modified], ["Kept until", part.expires_at && fullTime(part.expires_at)],
  ];
}

// MARK: The segments of a part

const svg = "http://www.w3.org/2000/svg";

/** A bar that shows which parts of the file are on disk. */
function rangePlot() {
  const plot = document.createElementNS(svg, "svg");
  plot.setAttribute("viewBox", "0 0 1000 10");
  plot.setAttribute("preserveAspectRatio", "none");
  plot.setAttribute("role", "img");
  return element("figure", { class: "segments", hidden: true }, plot, element("figcaption", { class: "hint" }));
}

function showRanges(figure, part) {
  const isPlain = !part?.bytes_expected || part.ranges.length < 2;
  figure.hidden = isPlain;
  if (isPlain) return;
  const [plot, caption] = figure.children;
  const words = `${count(part.ranges.length)} segments on disk, ${bytes(part.bytes_durable)} of ${bytes(part.bytes_expected)}`;
  plot.setAttribute("aria-label", words);
  setText(caption, words);
  plot.replaceChildren(...part.ranges.map(([from, to]) => {
    const bar = document.createElementNS(svg, "rect");
    const scale = 1000 / part.bytes_expected;
    for (const [name, value] of [["x", from * scale], ["width", (to - from) * scale], ["y", 0], ["height", 10]]) bar.setAttribute(name, value);
    return bar;
  }));
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
