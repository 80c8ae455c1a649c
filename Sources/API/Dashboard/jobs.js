// The list of jobs: those that run, then the others, newest first, in pages; filtered by session, state, tag and text.

import { address, get, query } from "./api.js";
import { coalesced } from "./coalesce.js";
import { arrange, byID, element, setAttribute, setText } from "./dom.js";
import { count, counted, jobName } from "./format.js";
import { JobRow } from "./jobrow.js";
import { stateNames } from "./words.js";

const pageSize = 100;
/** The service filters by session, state and tag. To filter by text, the page searches up to `mostSearched` jobs itself. */
const searchStep = 1000;
const mostSearched = 5000;
/** Minimum milliseconds between two refreshes of the list. */
const quietTime = 500;
const quietTimeOfSearch = 5000;

export class JobList {
  #rows = new Map();
  /** The cursors of the pages up to the present one. Null is the cursor of the newest page. */
  #cursors = [null];
  #next = null;
  #generation = 0;
  #on;

  /** @param on {open(job), changed(), failed(error)}. */
  constructor(on) {
    this.#on = on;
    this.refresh = coalesced(() => this.#load(), () => (this.#filters().text ? quietTimeOfSearch : quietTime));
    const state = this.#form.elements.state;
    for (const [value, name] of Object.entries(stateNames)) state.append(element("option", { value }, name));
    this.#form.addEventListener("input", () => this.#startOver());
    this.#form.addEventListener("submit", (event) => event.preventDefault());
    // The form resets its fields after this event.
    this.#form.addEventListener("reset", () => setTimeout(() => this.#startOver()));
    byID("page-older").addEventListener("click", () => this.#turn(() => this.#cursors.push(this.#next)));
    byID("page-newer").addEventListener("click", () => this.#turn(() => this.#cursors.pop()));
  }

  /** Sets some of the filters; the others stay. */
  narrow(values) {
    for (const [name, value] of Object.entries(values)) this.#form.elements[name].value = value;
    this.#startOver();
  }

  get filters() {
    return this.#filters();
  }

  /** Shows the first page. */
  showNewest() {
    this.#startOver();
  }

  progress(id, progress, phase) {
    this.#rows.get(id)?.progress(progress, phase);
  }

  /** Updates the row of a job that another part of the page has read. */
  show(job) {
    this.#rows.get(job.id)?.show(job);
  }

  tick() {
    for (const row of this.#rows.values()) row.tick();
  }

  showSessions(sessions) {
    const select = this.#form.elements.session;
    const chosen = select.value;
    const options = ["", ...sessions.map((session) => session.id)];
    if (options.join("\n") === [...select.options].map((option) => option.value).join("\n")) return;
    select.replaceChildren(...options.map((id) => element("option", { value: id }, id || "All")));
    if (options.includes(chosen)) select.value = chosen;
    else this.#startOver();
  }

  // MARK: Reading

  get #form() {
    return byID("filters");
  }

  #filters() {
    const { session, state, tag, text } = this.#form.elements;
    return { session: session.value, state: state.value, tag: tag.value.trim(), text: text.value.trim().toLowerCase() };
  }

  #startOver() {
    this.#turn(() => (this.#cursors = [null]));
  }

  #turn(change) {
    change();
    this.#generation += 1;
    this.#load();
    document.dispatchEvent(new CustomEvent("narrowed"));
  }

  async #load() {
    const generation = this.#generation;
    try {
      const page = await this.#read(this.#cursors.at(-1), this.#filters());
      // The user may have turned the page meanwhile.
      if (generation === this.#generation) this.#show(page);
    } catch (error) {
      this.#on.failed(error);
    }
  }

  async #read(cursor, { text, ...filters }) {
    if (!text) return await readWithRunningFirst({ ...filters, cursor });
    const found = [];
    let searched = 0;
    while (found.length < pageSize && searched < mostSearched) {
      const page = await readPage({ ...filters, cursor, limit: searchStep });
      const matches = page.jobs.filter((job) => isMatch(job, text));
      found.push(...matches);
      searched += page.jobs.length;
      cursor = page.next_cursor;
      if (!cursor) break;
    }
    found.sort((one, other) => (other.state === "running") - (one.state === "running"));
    return { jobs: found, next_cursor: cursor, searched };
  }

  // MARK: Showing

  #show({ jobs, next_cursor: next, searched }) {
    this.#next = next;
    const rows = jobs.map((job) => this.#row(job));
    arrange(byID("job-rows"), rows.map((row) => row.root));
    this.#rows = new Map(rows.map((row) => [row.job.id, row]));
    this.#showPlace(jobs.length, searched);
  }

  #row(job) {
    const known = this.#rows.get(job.id);
    if (!known) return new JobRow(job, { open: this.#on.open, changed: () => this.#noteChange() });
    // A list that was requested before an action may be older than the answer of the action.
    if (job.revision >= known.job.revision) known.show(job);
    return known;
  }

  #noteChange() {
    this.refresh();
    this.#on.changed();
  }

  #showPlace(shown, searched) {
    const page = this.#cursors.length;
    const { session, state, tag, text } = this.#filters();
    const isNarrowed = Boolean(session || state || tag || text);
    byID("page-newer").disabled = page === 1;
    byID("page-older").disabled = !this.#next;
    setText(byID("page-words"), page > 1 || this.#next ? `Page ${count(page)}` : "");
    setText(byID("jobs-count"), shown === 0 ? "" : this.#countWords(shown, searched));
    const empty = byID("jobs-empty");
    empty.hidden = shown > 0;
    setText(empty, emptyWords(isNarrowed, Boolean(this.#next), searched));
    setAttribute(byID("job-rows").parentElement, "aria-rowcount", this.#next ? "-1" : null);
  }

  #countWords(shown, searched) {
    if (searched != null) return `${counted(shown, "match", "matches")} in ${counted(searched, "download")}`;
    return this.#next || this.#cursors.length > 1 ? `${count(shown)} on this page` : counted(shown, "download");
  }
}

function emptyWords(isNarrowed, hasMore, searched) {
  if (hasMore && searched != null) return `None of these ${count(searched)} downloads match. “Older” continues the search.`;
  if (isNarrowed) return "No downloads match. “Show all” clears the filters.";
  return "There are no downloads yet. “Add downloads” starts one.";
}

/** The first page begins with the running downloads; the other pages leave them out. */
async function readWithRunningFirst(filters) {
  if (filters.state) return await readPage({ ...filters, limit: pageSize });
  const [page, running] = await Promise.all([
    readPage({ ...filters, limit: pageSize }),
    readPage({ ...filters, cursor: null, state: "running", limit: pageSize }),
  ]);
  const shown = new Set(running.jobs.map((job) => job.id));
  const others = page.jobs.filter((job) => !shown.has(job.id));
  return { ...page, jobs: filters.cursor ? others : [...running.jobs, ...others] };
}

function readPage(values) {
  return get(query(address("jobs"), values));
}

function isMatch(job, text) {
  return [jobName(job), job.url, job.file?.path ?? ""].some((place) => place.toLowerCase().includes(text));
}
