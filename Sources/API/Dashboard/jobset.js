// The downloads that the page has in memory: reads them from the service in large pages, applies events and progress to
// them, and reads again what an event has changed. It shows nothing.

import { address, get, query } from "./api.js";
import { coalesced } from "./coalesce.js";

/** At most this many downloads are kept. Of a longer list, the page has those that run or wait, and the newest. */
const most = 20_000;
const firstPage = 100;
const largePage = 1000;
/** Milliseconds between two readings of what has changed. */
const quietTime = 500;
/** The number of changed downloads in view that are read one by one. */
const mostSingles = 25;
/** Milliseconds between two readings of the whole list because its counts are wrong. */
const correctionPause = 30_000;
/** The service lists these first, so they are there even if the list is longer than `most`. */
const urgent = ["running", "waiting"];

export class JobSet {
  /** @type {Map<string, Job>} */
  jobs = new Map();
  /** Whether the page has all downloads of the scope. */
  isComplete = false;
  isLoading = false;
  /**
   * The filters that the service applies. Empty ones select all.
   * @type {Record<string, string>}
   */
  scope = { session: "", state: "", tag: "" };
  #generation = 0;
  /**
   * The downloads with an event after which they were not read.
   * @type {Set<string>}
   */
  #changed = new Set();
  #hasNew = false;
  /** Whether the last reading of the whole list has failed. */
  #hasFailed = false;
  #correctedAt = 0;
  /** @type {number | null} */
  #wrongSince = null;
  #on;

  /**
   * @param {{ changed: () => void, failed: (error: any) => void, inView: () => string[] }} on `inView` returns the identifiers of the
   *   downloads that are shown.
   */
  constructor(on) {
    this.#on = on;
    this.refresh = coalesced(() => this.#refresh(), quietTime);
  }

  // MARK: Reading the list

  /** Reads the whole list of a scope. What was there stays until it is replaced. */
  async load(scope = this.scope) {
    const generation = (this.#generation += 1);
    const isOther = Object.keys(scope).some((name) => scope[name] !== this.scope[name]);
    this.scope = { ...scope };
    if (isOther) {
      this.jobs = new Map();
      this.isComplete = false;
    }
    this.isLoading = true;
    this.#hasFailed = this.#hasNew = false;
    this.#changed.clear();
    const before = [...this.jobs.keys()];
    try {
      const seen = await this.#readAll(generation);
      if (generation !== this.#generation) return;
      // One that was added meanwhile is not in the pages that were read before.
      for (const id of before) if (!seen.has(id)) this.jobs.delete(id);
    } catch (error) {
      if (generation !== this.#generation) return;
      this.#hasFailed = true;
      this.#on.failed(error);
    }
    this.isLoading = false;
    this.#on.changed();
    // Events of the meantime.
    if (this.#changed.size > 0 || this.#hasNew) this.refresh();
  }

  /** Whether some downloads may be missing, but are about to be read. */
  get isPartial() {
    return this.isLoading || (this.#hasFailed && !this.isComplete);
  }

  /** @param {number} generation @returns the identifiers of the downloads that the service has. */
  async #readAll(generation) {
    /** @type {Set<string>} */
    const seen = new Set();
    const take = (/** @type {Job[]} */ jobs) => {
      if (generation !== this.#generation) return;
      for (const job of jobs) {
        seen.add(job.id);
        this.#settle(job, generation, true);
      }
      this.#on.changed();
    };
    const first = this.#page(null, firstPage);
    // It is awaited below, unless another page fails before it.
    first.catch(() => {});
    await Promise.all(this.#urgentStates().map(async (state) => take((await this.#page(null, largePage, state)).jobs)));
    let page = await first;
    take(page.jobs);
    while (page.next_cursor && seen.size < most && generation === this.#generation) {
      page = await this.#page(page.next_cursor, largePage);
      take(page.jobs);
    }
    if (generation === this.#generation) this.isComplete = !page.next_cursor;
    return seen;
  }

  #urgentStates() {
    return this.scope.state ? [] : urgent;
  }

  /** @param {string | null} cursor @param {number} limit @param {string} state */
  #page(cursor, limit, state = this.scope.state) {
    return get(query(address("jobs"), { ...this.scope, state, cursor, limit }));
  }

  // MARK: Changes

  /**
   * A document of the service. One that is older than what the page knows is ignored.
   * @param {Job} job
   * @param {boolean} isFresh whether it was read after the last event of the download. Some events come without a new revision, or after
   *   the document with their change.
   */
  take(job, isFresh = false) {
    const known = this.jobs.get(job.id);
    if (known && (isFresh ? Math.floor(known.revision) : known.revision) > job.revision) return known;
    if (known) Object.assign(known, job);
    else this.jobs.set(job.id, job);
    return known ?? job;
  }

  /** @param {string} id */
  forget(id) {
    if (this.jobs.delete(id)) this.#on.changed();
  }

  /**
   * Reads downloads that an action has changed: a resumption has no event.
   * @param {string[]} ids
   */
  reread(ids) {
    if (ids.length > largePage) return this.load();
    for (const id of ids) this.#changed.add(id);
    return this.refresh();
  }

  /**
   * Applies an event at once. What it does not say is read afterwards, if the download is in view.
   * @param {ServiceEvent} event
   */
  noteEvent({ type, job: id, time, data }) {
    if (!id) return;
    if (type === "job.deleted") return this.forget(id);
    const job = this.jobs.get(id);
    // An ended download that the page does not have is an old one.
    if (job) apply(job, type, time, data);
    else this.#hasNew ||= !data.snapshot;
    this.#changed.add(id);
    this.#on.changed();
    this.refresh();
  }

  /** @param {string} id @param {Progress} progress @param {string} [phase] @returns the job if it runs. */
  noteProgress(id, progress, phase) {
    const job = this.jobs.get(id);
    if (job?.state !== "running") return null;
    Object.assign(job, { progress, phase: phase ?? job.phase });
    return job;
  }

  async #refresh() {
    if (this.isLoading) return;
    const generation = this.#generation;
    try {
      if (this.#hasNew) await this.#readNew(generation);
      await this.#readChanged(generation);
    } catch (error) {
      this.#on.failed(error);
    }
  }

  /** @param {number} generation */
  async #readNew(generation) {
    this.#hasNew = false;
    const unknown = [...this.#changed].filter((id) => !this.jobs.has(id));
    try {
      await this.#unmarked(unknown, () => this.#readNewest(generation));
    } catch (error) {
      this.#hasNew = true;
      throw error;
    }
  }

  /**
   * Reads from the newest on, up to the first one that was known before.
   * @param {number} generation
   */
  async #readNewest(generation) {
    if (!this.isComplete && this.#urgentStates().length > 0) {
      for (const job of (await this.#page(null, firstPage, "running")).jobs) this.#settle(job, generation, true);
    }
    let [cursor, limit, isKnown] = [null, firstPage, false];
    while (!isKnown && this.jobs.size < most) {
      const page = await this.#page(cursor, limit);
      if (generation !== this.#generation) return;
      isKnown = page.jobs.some((/** @type {Job} */ job) => this.jobs.has(job.id)) || !page.next_cursor;
      for (const job of page.jobs) this.#settle(job, generation, true);
      this.#on.changed();
      [cursor, limit] = [page.next_cursor, largePage];
    }
  }

  /** @param {number} generation */
  async #readChanged(generation) {
    const wanted = this.#on.inView().filter((id) => this.#changed.has(id));
    const left = wanted.length > mostSingles ? await this.#readPages(wanted, generation) : wanted;
    if (left.length > mostSingles) this.refresh();
    await Promise.all(left.slice(0, mostSingles).map((id) => this.#readOne(id, generation)));
    if (generation === this.#generation && wanted.length > 0) this.#on.changed();
  }

  /**
   * Reads many with two requests.
   * @param {string[]} ids @param {number} generation @returns those that the answers do not have.
   */
  async #readPages(ids, generation) {
    /** @type {{ jobs: Job[] }[]} */
    const pages = await this.#unmarked(ids, () => Promise.all([
      this.#page(null, firstPage), this.#page(null, largePage, "running"),
    ]));
    const jobs = pages.flatMap((page) => page.jobs);
    for (const job of jobs) this.#settle(job, generation);
    const read = new Set(jobs.map((/** @type {Job} */ job) => job.id));
    const left = ids.filter((id) => !read.has(id));
    for (const id of left) this.#changed.add(id);
    return left;
  }

  /** @param {string} id @param {number} generation */
  async #readOne(id, generation) {
    try {
      this.#settle(await this.#unmarked([id], () => get(address("jobs", id))), generation);
    } catch (/** @type {any} */ error) {
      if (error.status !== 404) throw error;
      this.#changed.delete(id);
      this.forget(id);
    }
  }

  /**
   * The downloads lose their marks before they are read: an event that comes meanwhile marks them again.
   * @param {string[]} ids @param {() => Promise<any>} read
   */
  async #unmarked(ids, read) {
    for (const id of ids) this.#changed.delete(id);
    try {
      return await read();
    } catch (error) {
      for (const id of ids) this.#changed.add(id);
      throw error;
    }
  }

  /** @param {Job} job @param {number} generation @param {boolean} isWanted */
  #settle(job, generation, isWanted = this.jobs.has(job.id)) {
    if (generation === this.#generation && isWanted) this.take(job, !this.#changed.has(job.id));
  }

  // MARK: Checking

  /**
   * Reads the list again if that has failed before, or if its numbers are not those of the sessions. Some changes have no event
   * (a client resumed a download).
   * @param {Record<string, number>} totals the number of downloads in each state. @param {number} now
   */
  check(totals, now = Date.now()) {
    if (this.isLoading || !(this.#hasFailed || this.#isWrong(totals, now)) || now - this.#correctedAt < correctionPause) return;
    this.#correctedAt = now;
    this.load();
  }

  /**
   * Whether the numbers have been wrong for a while.
   * @param {Record<string, number>} totals @param {number} now
   */
  #isWrong(totals, now) {
    if (!this.isComplete || Object.values(this.scope).some(Boolean)) return false;
    /** @type {Record<string, number>} */
    const counts = {};
    for (const job of this.jobs.values()) counts[job.state] = (counts[job.state] ?? 0) + 1;
    const isRight = Object.keys(totals).every((state) => totals[state] === (counts[state] ?? 0));
    this.#wrongSince = isRight ? null : (this.#wrongSince ?? now);
    return !isRight && now - (this.#wrongSince ?? now) >= 2 * quietTime;
  }
}

/**
 * What an event says about a job. The revision is between that of the known document and the next.
 * @param {Job} job @param {string} type @param {string} time @param {Record<string, any>} data
 */
function apply(job, type, time, data) {
  job.revision = Math.floor(job.revision) + 0.5;
  if (data.snapshot) {
    // The journal has addresses without their query.
    const { url, revision, ...rest } = data.snapshot;
    return Object.assign(job, rest, { revision: Math.max(job.revision, revision - 0.5) });
  }
  switch (type) {
    case "job.created": return Object.assign(job, rested(job), { state: "queued", failure: null, finished_at: null });
    case "job.started":
      return Object.assign(job, rested(job), {
        state: "running", phase: "connecting", attempts: data.attempt, started_at: job.started_at ?? time, failure: null,
      });
    case "job.waiting":
      return Object.assign(job, rested(job), {
        state: "waiting", reason: data.reason, retry_at: data.retry_at, challenge: data.challenge, cause: data.failure,
      });
    case "job.moved": return Object.assign(job, { queue_rank: data.queue_rank });
    case "job.paused": return Object.assign(job, rested(job), { state: "paused" });
    default: return job;
  }
}

/**
 * The members of a job that does not run and does not wait.
 * @param {Job} job
 */
function rested(job) {
  return {
    phase: null, reason: null, retry_at: null, cause: null,
    progress: { ...job.progress, bytes_per_second: null, eta_seconds: null },
  };
}
