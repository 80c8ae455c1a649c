// A client of fetchd, for browsers and for Node 18 or newer. It is one module without dependencies and without a build step.
// The service has it at /client.js, and its own page uses it. README.md beside it has examples.

/**
 * @typedef {Record<string, any>} Document A document of the API, as openapi.yaml describes it.
 *
 * @typedef {object} Progress
 * @property {number} bytes_received
 * @property {number} bytes_durable What a crash of the service would not lose.
 * @property {number | null} bytes_expected null if the server does not say it.
 * @property {number | null} fraction 0 to 1; null if `bytes_expected` is null.
 * @property {number | null} bytes_per_second
 * @property {number | null} eta_seconds
 *
 * @typedef {object} JobMembers
 * @property {string} id
 * @property {string} session
 * @property {"queued" | "running" | "waiting" | "paused" | "succeeded" | "failed" | "cancelled"} state
 * @property {number} revision
 * @property {string} url
 * @property {Progress} progress
 * @property {{ path: string, size: number, sha256: string | null, content_type: string | null } | null} file
 * @property {{ code: string, message: string } | null} failure
 * @typedef {Document & JobMembers} JobDocument
 *
 * @typedef {object} ClientOptions
 * @property {string | null} [token] A token of the service; in Node by default FETCHD_TOKEN.
 * @property {number} [patience] Seconds for which a request waits for a service that does not answer, for example because it
 *   restarts; 30 by default.
 * @property {(refusal: FetchdError | null) => Promise<void>} [authorize] Called if the service refuses the token, or wants one
 *   (then with null). It sets `client.token`, and the request is sent again.
 *
 * @typedef {object} RequestOptions
 * @property {Record<string, string | number | boolean | null | undefined>} [query] Empty values are not sent.
 * @property {unknown} [json] The body, as JSON.
 * @property {BodyInit} [body] Any other body. A stream is sent once.
 * @property {Record<string, string>} [headers]
 * @property {AbortSignal} [signal]
 * @property {number} [timeout] Seconds until the answer; 75 by default, because the service answers waits after 30.
 * @property {number} [patience] In place of the client's.
 *
 * @typedef {object} WaitOptions
 * @property {number} [timeout] Seconds; without it, there is no limit.
 * @property {AbortSignal} [signal]
 *
 * @typedef {{ kind: "live" | "polling" } | { kind: "broken", at: number, error: Error }} Connection "live": events come by a
 *   stream. "broken": the next attempt is at `at`, in milliseconds since 1970.
 *
 * @typedef {object} EventOptions
 * @property {number} [after] The last event that the caller knows; by default the events from now on.
 * @property {string} [session]
 * @property {string} [type] `job.succeeded`, for example.
 * @property {boolean} [progress] Whether `job.progress` is given, too. Such a document has no `id`. It comes only by a stream.
 * @property {AbortSignal} [signal]
 * @property {(sessions: Document[]) => unknown} [onReset] Reads again what the caller shows, and may return a promise. It is
 *   called at the beginning, after an interruption, and, in place of EventsPruned, if events are gone.
 * @property {(connection: Connection) => void} [onConnection] With it, a refusal by the service does not end the events, but is
 *   reported here.
 */

// MARK: Errors

/** The service has refused a request: its problem document (RFC 9457). */
export class FetchdError extends Error {
  /**
   * @param {number} status
   * @param {Document | null} problem null if the answer has none, as that of a proxy.
   * @param {number | null} retryAfter
   */
  constructor(status, problem, retryAfter = null) {
    super(problem?.detail ?? problem?.title ?? `fetchd answered ${status} without a reason. See the log of fetchd.`);
    this.name = "FetchdError";
    this.status = status;
    this.problem = problem;
    /**
     * The kind of the problem, which is stable: `/problems/invalid-value`.
     *
     * @type {string}
     */
    this.type = problem?.type ?? "";
    /**
     * The member of the request that has the mistake (RFC 6901).
     *
     * @type {string | null}
     */
    this.pointer = problem?.pointer ?? null;
    /** Seconds, or null. */
    this.retryAfter = retryAfter;
  }
}

/** Events after the given one are gone, because of their age. Read the jobs again, and then the events from now on. */
export class EventsPruned extends FetchdError {}

/** The service did not answer for as long as the client waits for it. */
export class ServiceUnavailable extends Error {
  /**
   * @param {unknown} [cause]
   * @param {string} [message]
   */
  constructor(cause, message = "fetchd does not answer. Check that it is running and that this computer can reach it, and try again.") {
    super(message);
    this.name = "ServiceUnavailable";
    this.cause = cause;
  }
}

/** A download has failed, or was cancelled. */
export class DownloadFailed extends Error {
  /** @param {JobDocument} job */
  constructor(job) {
    const code = job.failure?.code ?? job.state;
    super(`${job.id}: ${code}: ${job.failure?.message ?? "the job was cancelled"}`);
    this.name = "DownloadFailed";
    this.job = job;
    /** The stable code of the failure, such as `checksum_mismatch`; `cancelled` for a job that was cancelled. */
    this.code = code;
  }
}

/** A request is no webhook of the service, or is too old. */
export class WebhookError extends Error {
  name = "WebhookError";
}

// MARK: The service

/** A service. */
export class Client {
  /**
   * @param {string | URL | null} [url] The address of the service. By default: of the service that this module comes from; in
   *   Node FETCHD_URL, or http://127.0.0.1:8080.
   * @param {ClientOptions} options
   */
  constructor(url, { token, patience = 30, authorize } = {}) {
    const environment = /** @type {any} */ (globalThis).process?.env ?? {};
    const home = /^https?:.*\/client\.js$/.test(import.meta.url) ? new URL(".", import.meta.url).href : null;
    const text = String(url ?? home ?? environment.FETCHD_URL ?? "http://127.0.0.1:8080");
    this.url = `${text.replace(/\/+$/, "")}/`;
    if (!/^https?:\/\//.test(this.url)) {
      throw new TypeError(`'${text}' is not the address of a service, such as http://127.0.0.1:8080`);
    }
    /** @type {string | null} */
    this.token = token ?? (home ? null : environment.FETCHD_TOKEN) ?? null;
    this.patience = patience;
    this.authorize = authorize;
  }

  /**
   * Downloads a file, and returns when it is there.
   *
   * @param {string} url
   * @param {Document & WaitOptions & { to?: string, onProgress?: (progress: Progress) => void }} options `to` is a file or a
   *   folder of this machine (not in a browser), to which the file is copied from the service. The other members are those of
   *   the job: `session`, `headers`, `checksum`, ...
   * @returns {Promise<Job>}
   * @throws {DownloadFailed}
   */
  async download(url, { to, onProgress, timeout, signal, ...job } = {}) {
    const added = await this.add(url, job);
    await added.wait({ onProgress, timeout, signal });
    if (to !== undefined) await added.save(to);
    return added;
  }

  /**
   * Submits a job, and returns when the service has stored it.
   *
   * @param {string} url
   * @param {Document} [job]
   */
  async add(url, job = {}) {
    return new Job(this, await this.request("POST", ["jobs"], { json: { ...job, url } }));
  }

  /**
   * Submits up to 10,000 jobs, all or none.
   *
   * @param {Document[]} jobs
   */
  async addAll(jobs) {
    /** @type {{ jobs: JobDocument[] }} */
    const answer = await this.request("POST", ["jobs", "batch"], { json: { jobs } });
    return answer.jobs.map((job) => new Job(this, job));
  }

  /** @param {string} id */
  async job(id) {
    return new Job(this, await this.request("GET", ["jobs", id]));
  }

  /**
   * The jobs that the caller may see, the newest first.
   *
   * @param {{ session?: string, state?: string, tag?: string }} [filters]
   */
  async *jobs(filters = {}) {
    for (let cursor = null; ; ) {
      /** @type {{ jobs: JobDocument[], next_cursor: string | null }} */
      const page = await this.request("GET", ["jobs"], { query: { ...filters, limit: 1000, cursor } });
      yield* page.jobs.map((job) => new Job(this, job));
      if (page.next_cursor === null) return;
      cursor = page.next_cursor;
    }
  }

  /**
   * Gives the job at each change of it and of its progress, up to its end.
   *
   * @param {string} id
   * @param {{ signal?: AbortSignal }} [options]
   */
  async *watch(id, options) {
    yield* (await this.job(id)).watch(options);
  }

  /**
   * Adds a job for each line of a list (docs/lists.md). The same list is imported once a day.
   *
   * @param {BodyInit} list A stream is sent once; anything else is sent again if the service restarts.
   * @param {string} format `tsv`, for example.
   * @param {{ session?: string, base?: string, keepGoing?: boolean, signal?: AbortSignal }} options
   * @throws {FetchdError} whose `problem.problems` has the faulty lines.
   * @returns {Promise<Document>} `created`, `existing` and `batch`.
   */
  async importList(list, format, { session, base, keepGoing, signal } = {}) {
    const query = { format, session, base, keep_going: keepGoing ? true : null };
    const headers = { "Content-Type": "application/octet-stream" };
    // Without a key, the service knows a repetition by the digest of the list.
    const options = { query, headers, body: list, signal, timeout: 3600 };
    return (await this.exchange("POST", ["jobs", "import"], options)).document;
  }

  /**
   * Declares a session, or attaches to it again.
   *
   * @param {string} id
   * @param {Document} [configuration] Replaces the present one.
   */
  async session(id, configuration) {
    return new Session(this, await this.request("PUT", ["sessions", id], { json: configuration }));
  }

  /**
   * The events of the journal, until the iteration ends or the feed is closed. It outlasts restarts of the service, and misses no
   * event. In a browser, a hidden page keeps no stream open.
   *
   * @param {EventOptions} [options]
   */
  events(options) {
    return new EventFeed(this, options);
  }

  /** @returns {Promise<Document>} */
  stats() {
    return this.request("GET", ["stats"]);
  }

  /** A ticket replaces the token in the query of one request within 30 seconds, for links and EventSource. */
  async ticket() {
    /** @type {{ ticket: string, expires_at: string }} */
    const answer = await this.request("POST", ["tickets"]);
    return answer.ticket;
  }

  // MARK: Requests

  /**
   * An address of the API.
   *
   * @param {string[]} path Its parts, which are encoded here.
   * @param {RequestOptions["query"]} [query]
   */
  address(path, query = {}) {
    // An address would lose these, and mean another resource (URL, section 4.4).
    if (path.some((part) => /^\.{0,2}$/.test(part))) throw new TypeError("A name must not be empty, '.' or '..'.");
    const url = new URL(`v1/${path.map(encodeURIComponent).join("/")}`, this.url);
    for (const [name, value] of Object.entries(query)) {
      if (value !== "" && value != null) url.searchParams.set(name, String(value));
    }
    return url;
  }

  /**
   * Sends a request until the service answers it, and returns the document of the answer. A POST is carried out once, also if it
   * must be repeated.
   *
   * @param {string} method
   * @param {string[] | URL} path Parts of a path, or an address that was made of them.
   * @param {RequestOptions} [options]
   * @returns {Promise<any>}
   */
  async request(method, path, options = {}) {
    const headers = method === "POST" ? { "Idempotency-Key": newKey(), ...options.headers } : options.headers;
    return (await this.exchange(method, path, { ...options, headers })).document;
  }

  /**
   * Sends a request until the service answers it, and returns the answer with its document; 204 and 304 have none.
   *
   * @param {string} method
   * @param {string[] | URL} path
   * @param {RequestOptions} [options]
   * @returns {Promise<{ status: number, headers: Headers, document: any }>}
   */
  exchange(method, path, options = {}) {
    return this.#repeat(method, path, options, async (response) => {
      const { status, headers } = response;
      if (status === 204 || status === 304) return { status, headers, document: null };
      try {
        return { status, headers, document: await response.json() };
      } catch (error) {
        // The answer was cut off, or it does not come from fetchd.
        throw new ServiceUnavailable(error);
      }
    });
  }

  /**
   * Sends a request until the service answers it, and returns the answer, whose body can be read.
   *
   * @param {string} method
   * @param {string[] | URL} path
   * @param {RequestOptions} [options]
   * @returns {Promise<Response>}
   */
  open(method, path, options = {}) {
    return this.#repeat(method, path, options, async (response) => response);
  }

  /**
   * @template Value
   * @param {string} method
   * @param {string[] | URL} path
   * @param {RequestOptions} options
   * @param {(response: Response) => Promise<Value>} read
   */
  async #repeat(method, path, options, read) {
    const url = path instanceof URL ? path : this.address(path, options.query);
    if (!url.href.startsWith(this.url)) throw new TypeError(`'${url}' is not an address of ${this.url}`);
    const isOnce = options.body instanceof ReadableStream;
    const end = Date.now() + (isOnce ? 0 : (options.patience ?? this.patience) * second);
    for (let pause = 0.1 * second; ; pause = Math.min(2 * pause, 5 * second)) {
      try {
        return await this.#authorized(method, url, options, read);
      } catch (error) {
        // With jitter, because many clients wait for a restart.
        const delay = Math.max(pause * (0.5 + Math.random() / 2), retryAfter(error) * second);
        if (options.signal?.aborted || !isPassing(error) || Date.now() + delay > end) throw error;
        await sleep(delay, options.signal);
      }
    }
  }

  /**
   * @template Value
   * @param {string} method
   * @param {URL} url
   * @param {RequestOptions} options
   * @param {(response: Response) => Promise<Value>} read
   */
  async #authorized(method, url, options, read) {
    for (;;) {
      const token = this.token;
      const limit = new Limit(options.signal);
      limit.set((options.timeout ?? 75) * second);
      try {
        const response = await this.#send(method, url, options, limit.signal);
        if (response.ok || response.status === 304) return await read(response);
        const refusal = await refusalOf(response);
        if (refusal.status !== 401 || !this.authorize) throw refusal;
        limit.clear();
        // Another request may have got a token meanwhile.
        if (token === this.token) await this.authorize(token ? refusal : null);
      } finally {
        limit.clear();
      }
    }
  }

  /**
   * @param {string} method
   * @param {URL} url
   * @param {RequestOptions} options
   * @param {AbortSignal} signal
   */
  async #send(method, url, { json, body, headers, signal: caller }, signal) {
    const sent = new Headers(headers);
    if (json !== undefined) sent.set("Content-Type", "application/json");
    if (this.token) sent.set("Authorization", `Bearer ${this.token}`);
    // `duplex` is required for streams (Fetch, section 5.4).
    const half = body instanceof ReadableStream ? { duplex: "half" } : {};
    const content = json === undefined ? body : JSON.stringify(json);
    try {
      return await fetch(url, { method, headers: sent, body: content, signal, cache: "no-store", ...half });
    } catch (error) {
      throw caller?.aborted ? error : new ServiceUnavailable(error, await this.#refusalOfPage());
    }
  }

  /**
   * A browser does not tell a page whether there was no answer or whether the page may not read it. But every page may send a
   * request without reading the answer, and the browser says whether there was one.
   */
  async #refusalOfPage() {
    const page = globalThis.location?.origin;
    if (!page || new URL(this.url).origin === page) return undefined;
    const isThere = await fetch(new URL("livez", this.url), { mode: "no-cors" }).then(() => true, () => false);
    const remedy = `Start it with: fetchd serve --allow-origin ${page}`;
    return isThere ? `fetchd runs at ${this.url}, but does not allow this page to use it. ${remedy}` : undefined;
  }
}

// MARK: Jobs

/** One download. `for await (const progress of job)` gives its progress up to its end. */
export class Job {
  #client;

  /** @param {Client} client @param {JobDocument} document */
  constructor(client, document) {
    this.#client = client;
    /** What the service said of the job last. */
    this.document = document;
  }

  get id() {
    return this.document.id;
  }

  get state() {
    return this.document.state;
  }

  get hasEnded() {
    return ["succeeded", "failed", "cancelled"].includes(this.state);
  }

  /** The finished file, relative to the downloads folder of the service; null before. */
  get path() {
    return this.document.file?.path ?? null;
  }

  async refresh() {
    this.document = await this.#client.request("GET", ["jobs", this.id]);
    return this;
  }

  /**
   * Gives the job at each change of it and of its progress, up to its end.
   *
   * @param {{ signal?: AbortSignal }} options
   */
  async *watch({ signal } = {}) {
    yield this;
    while (!this.hasEnded) {
      if (await this.#next(longestWait, { signal })) yield this;
    }
  }

  /** @returns {AsyncGenerator<Progress>} */
  async *[Symbol.asyncIterator]() {
    for await (const { document } of this.watch()) yield document.progress;
  }

  /**
   * Waits until the job has succeeded.
   *
   * @param {WaitOptions & { onProgress?: (progress: Progress) => void }} options
   * @throws {DownloadFailed} and a DOMException `TimeoutError`.
   */
  async wait({ timeout, onProgress, signal } = {}) {
    const end = timeout === undefined ? Infinity : Date.now() + timeout * second;
    while (!this.hasEnded) {
      const left = (end - Date.now()) / second;
      if (left <= 0) throw timedOut(`${this.id} is ${this.state} after ${timeout} seconds`);
      const seconds = Math.max(1, Math.floor(Math.min(longestWait, left)));
      await this.#next(seconds, { signal, until: onProgress ? undefined : "ended" });
      onProgress?.(this.document.progress);
    }
    if (this.state !== "succeeded") throw new DownloadFailed(this.document);
    return this;
  }

  /**
   * Waits for the next document, or for the end of the job.
   *
   * @param {number} seconds
   * @param {{ signal?: AbortSignal, until?: string }} options
   * @returns {Promise<boolean>} whether there is another document.
   */
  async #next(seconds, { signal, until }) {
    /** @type {Record<string, string>} */
    const headers = { Prefer: `wait=${seconds}` };
    if (!until) headers["If-None-Match"] = `"${this.document.revision}.${this.document.progress.bytes_received}"`;
    const answer = await this.#client.exchange("GET", ["jobs", this.id], { query: { until }, headers, signal });
    if (answer.document) this.document = answer.document;
    // A proxy may keep the wait to itself.
    if (!answer.headers.has("Preference-Applied") && !this.hasEnded) await sleep(second, signal);
    return answer.document !== null;
  }

  /**
   * The finished file, as it is read.
   *
   * @param {{ headers?: Record<string, string>, signal?: AbortSignal }} [options]
   */
  file(options) {
    return this.#client.open("GET", ["jobs", this.id, "file"], options);
  }

  /** An address of the finished file for a link of a page, which works once within 30 seconds if the service wants a token. */
  async link() {
    const ticket = this.#client.token ? await this.#client.ticket() : null;
    return this.#client.address(["jobs", this.id, "file"], { ticket }).href;
  }

  /**
   * Copies the finished file to this machine, and compares its digest. Not in a browser.
   *
   * @param {string} to A file or a folder.
   * @returns {Promise<string>} the path of the copy.
   */
  async save(to) {
    const [fs, path, crypto] = await Promise.all(["fs/promises", "path", "crypto"].map((name) => importNode(name)));
    const { file } = this.document;
    if (!file) throw new TypeError(`${this.id} has no file; it is ${this.state}`);
    const isFolder = await fs.stat(to).then((/** @type {any} */ found) => found.isDirectory(), () => false);
    const target = isFolder ? path.join(to, path.basename(file.path)) : to;
    const part = `${target}.${newKey()}.part`;
    try {
      const digest = crypto.createHash("sha256");
      await this.#copy(await fs.open(part, "wx"), digest);
      const found = digest.digest("hex");
      if (file.sha256 && found !== file.sha256) throw changed(`its sha-256 is ${found}`);
      await fs.rename(part, target);
    } catch (error) {
      await fs.rm(part, { force: true });
      throw error;
    }
    return target;
  }

  /**
   * A copy that breaks off continues.
   *
   * @param {any} handle
   * @param {any} digest
   */
  async #copy(handle, digest) {
    let [position, tag, end] = [0, "", Infinity];
    try {
      for (;;) {
        const response = await this.file({ headers: position ? { Range: `bytes=${position}-`, "If-Range": tag } : {} });
        if (position && response.status !== 206) throw changed("it was replaced");
        tag = response.headers.get("ETag") ?? "";
        const size = position + Number(response.headers.get("Content-Length"));
        try {
          for await (const piece of chunks(response)) {
            await handle.appendFile(piece);
            digest.update(piece);
            position += piece.length;
            end = Date.now() + this.#client.patience * second;
          }
        } catch (error) {
          if (!(error instanceof ServiceUnavailable) || Date.now() > end) throw error;
        }
        if (position === size) return await handle.sync();
        await sleep(second / 5);
      }
    } finally {
      await handle.close();
    }
  }

  pause() {
    return this.#act("pause");
  }

  resume() {
    return this.#act("resume");
  }

  /** @param {{ produceResumeData?: boolean }} options */
  cancel({ produceResumeData = false } = {}) {
    return this.#act("cancel", { produce_resume_data: produceResumeData });
  }

  retry() {
    return this.#act("retry");
  }

  /** @param {string} action @param {Document} [json] */
  async #act(action, json) {
    this.document = await this.#client.request("POST", ["jobs", this.id, action], { json });
    return this;
  }

  /**
   * Replaces members of the job, such as `url` of an expired link. null removes one.
   *
   * @param {Document} members
   */
  async change(members) {
    this.document = await this.#client.request("PATCH", ["jobs", this.id], { json: members });
    return this;
  }

  /**
   * Forgets the job, after it was cancelled if it has not ended.
   *
   * @param {{ file?: "keep" | "delete" }} options
   */
  async delete({ file = "keep" } = {}) {
    try {
      await this.#client.request("DELETE", ["jobs", this.id], { query: { file } });
    } catch (error) {
      // The answer to the first request may be lost.
      if (!(error instanceof FetchdError) || error.status !== 404) throw error;
    }
  }
}

// MARK: Sessions

/** A group of jobs with one configuration. A program that starts again attaches to it by its name. */
export class Session {
  #client;
  #position;

  /** @param {Client} client @param {Document} document */
  constructor(client, document) {
    this.#client = client;
    this.document = document;
    /** @type {number} */
    this.#position = document.acknowledged_through;
  }

  /** @returns {string} */
  get id() {
    return this.document.id;
  }

  async refresh() {
    this.document = await this.#client.request("GET", ["sessions", this.id]);
    return this;
  }

  /** @param {string} url @param {Document} [job] */
  add(url, job) {
    return this.#client.add(url, { ...job, session: this.id });
  }

  /**
   * Submits up to 10,000 jobs, all or none.
   *
   * @param {Document[]} jobs
   */
  addAll(jobs) {
    return this.#client.addAll(jobs.map((job) => ({ ...job, session: this.id })));
  }

  /** @param {BodyInit} list @param {string} format @param {{ base?: string, keepGoing?: boolean, signal?: AbortSignal }} [options] */
  importList(list, format, options) {
    return this.#client.importList(list, format, { ...options, session: this.id });
  }

  /** @param {{ state?: string, tag?: string }} [filters] */
  jobs(filters) {
    return this.#client.jobs({ ...filters, session: this.id });
  }

  /** @param {EventOptions} [options] */
  events(options) {
    return this.#client.events({ ...options, session: this.id });
  }

  /**
   * Waits for the next finish of the session: all jobs of a batch have ended. A finish that was not acknowledged, because the
   * program ended before, comes again.
   *
   * @param {WaitOptions & { acknowledge?: boolean }} options `acknowledge`: false if the caller acknowledges the finish when
   *   its results are stored.
   * @throws a DOMException `TimeoutError`.
   */
  async waitForFinish({ timeout, acknowledge = true, signal } = {}) {
    const end = timeout === undefined ? Infinity : Date.now() + timeout * second;
    for (;;) {
      const left = (end - Date.now()) / second;
      if (left <= 0) throw timedOut(`session ${this.id} has not finished after ${timeout} seconds`);
      const wait = Math.max(1, Math.floor(Math.min(longestWait, left)));
      const query = { after: this.#position, session: this.id, type: "session.finished", limit: 1, wait };
      /** @type {{ events: Document[], next_after: number }} */
      const page = await this.#client.request("GET", ["events"], { query, signal });
      this.#position = Math.max(this.#position, page.next_after);
      if (page.events.length === 0) continue;
      const finish = new Finish(this, page.events[0]);
      if (acknowledge) await finish.acknowledge();
      return finish;
    }
  }

  /** @param {number} through The number of an event. */
  async acknowledge(through) {
    this.document = await this.#client.request("POST", ["sessions", this.id, "acknowledge"], { json: { through } });
    return this;
  }

  /**
   * The finished files with their digests, for `sha256sum --check` in the downloads folder.
   *
   * @param {"sha256sum" | "tsv"} [format]
   */
  async manifest(format = "sha256sum") {
    const response = await this.#client.open("GET", ["sessions", this.id, "manifest"], { query: { format } });
    return response.text();
  }
}

/** All jobs of a batch have ended. */
export class Finish {
  #session;

  /** @param {Session} session @param {Document} document */
  constructor(session, document) {
    this.#session = session;
    this.document = document;
    /**
     * The number of the event.
     *
     * @type {number}
     */
    this.event = document.id;
    /** @type {number} */
    this.batch = document.data.batch;
    /** @type {"succeeded" | "partly_failed" | "failed" | "cancelled"} */
    this.outcome = document.data.outcome;
    /** @type {Record<string, number>} */
    this.counts = document.data.counts;
    /**
     * The first failures.
     *
     * @type {{ job: string, code: string, message: string }[]}
     */
    this.failures = document.data.failures;
  }

  /** Tells the service that its client has the finish. A token without the scope `sessions` may not. */
  async acknowledge() {
    try {
      await this.#session.acknowledge(this.event);
    } catch (error) {
      if (!(error instanceof FetchdError) || error.type !== "/problems/forbidden") throw error;
    }
  }
}

// MARK: Events

/**
 * The events of the journal, each once and in order, over interruptions. They come by a stream if possible. Until the stream has
 * sent its first bytes, and if it is silent (for example behind a proxy that buffers responses), the feed polls every second.
 */
export class EventFeed {
  #client;
  #options;
  /**
   * The last event that was given; null before the first answer of the service.
   *
   * @type {number | null}
   */
  #position;
  #streamSpeaks = false;
  #failures = 0;
  #stop = new AbortController();
  /**
   * Events that the caller has not taken yet.
   *
   * @type {Document[]}
   */
  #ready = [];
  #arrival = new Signal();
  #demand = new Signal();
  #wakeUp = new Signal();

  /** @param {Client} client @param {EventOptions} [options] */
  constructor(client, options = {}) {
    this.#client = client;
    this.#options = options;
    this.#position = options.after ?? null;
  }

  /** Whether the events come by a stream. */
  get isStreaming() {
    return this.#streamSpeaks;
  }

  get isConnected() {
    return this.#position !== null && this.#failures === 0;
  }

  /** Tries at once in place of the next time. */
  retryNow() {
    this.#wakeUp.send();
  }

  close() {
    this.#stop.abort();
    for (const signal of [this.#arrival, this.#demand, this.#wakeUp]) signal.send();
  }

  /** @returns {AsyncGenerator<Document>} */
  async *[Symbol.asyncIterator]() {
    const wake = () => this.retryNow();
    const close = () => this.close();
    globalThis.document?.addEventListener("visibilitychange", wake);
    globalThis.window?.addEventListener("online", wake);
    this.#options.signal?.addEventListener("abort", close);
    /** @type {{ error: unknown } | null} */
    let failure = null;
    Promise.all([this.#pollForever(), this.#streamForever()]).catch((error) => (failure = { error })).finally(close);
    try {
      while (!this.#stop.signal.aborted && !this.#options.signal?.aborted) {
        yield* this.#ready.splice(0);
        this.#demand.send();
        if (this.#ready.length === 0) await this.#arrival.next();
      }
      if (failure) throw /** @type {{ error: unknown }} */ (failure).error;
    } finally {
      this.close();
      globalThis.document?.removeEventListener("visibilitychange", wake);
      globalThis.window?.removeEventListener("online", wake);
      this.#options.signal?.removeEventListener("abort", close);
    }
  }

  /**
   * Gives events to the caller, and returns when it has taken them.
   *
   * @param {Document[]} events
   */
  async #give(events) {
    for (const event of events) {
      if (event.id !== undefined) {
        if (event.id <= (this.#position ?? 0)) continue;
        this.#position = event.id;
      }
      this.#ready.push(event);
    }
    this.#arrival.send();
    while (this.#ready.length > 0 && !this.#isClosed) await this.#demand.next();
  }

  get #isClosed() {
    return this.#stop.signal.aborted;
  }

  // MARK: Polling

  async #pollForever() {
    while (!this.#isClosed) {
      // A poll that has failed is repeated, even if the stream speaks meanwhile: the caller was told that it is broken.
      const isNeeded = !this.#streamSpeaks || this.#failures > 0;
      const error = isNeeded ? await this.#poll() : null;
      await this.#wakeUp.next(this.#delay(error));
    }
  }

  /** @returns {Promise<Error | null>} */
  async #poll() {
    try {
      if (this.#position === null) await this.#begin();
      else await this.#readOn(this.#position);
      if (this.#failures > 0) await this.#reset();
      this.#failures = 0;
      this.#options.onConnection?.({ kind: this.#streamSpeaks ? "live" : "polling" });
      return null;
    } catch (error) {
      if (this.#isClosed || !(error instanceof Error) || (!this.#options.onConnection && isFinal(error))) throw error;
      this.#failures += 1;
      this.#options.onConnection?.({ kind: "broken", at: Date.now() + this.#delay(error), error });
      return error;
    }
  }

  /** Notes the position in the journal before the caller reads everything. */
  async #begin() {
    const sessions = await this.#sessions();
    this.#position = Math.max(0, ...sessions.map((session) => session.last_event));
    await this.#options.onReset?.(sessions);
  }

  async #reset() {
    if (this.#options.onReset) await this.#options.onReset(await this.#sessions());
  }

  /** @returns {Promise<Document[]>} */
  async #sessions() {
    return (await this.#client.request("GET", ["sessions"], { signal: this.#stop.signal, patience: 0 })).sessions;
  }

  /** @param {number} position */
  async #readOn(position) {
    const { session, type } = this.#options;
    const query = { after: position, session, type, limit: 1000 };
    for (let next = null; ; ) {
      const options = { query: { ...query, after: next ?? position }, signal: this.#stop.signal, patience: 0 };
      /** @type {{ events: Document[], next_after: number }} */
      const page = await this.#client.request("GET", ["events"], options).catch((error) => this.#restart(error));
      await this.#give(page.events);
      if (this.#position !== null) this.#position = Math.max(this.#position, page.next_after);
      if (page.events.length < query.limit) return;
      next = page.next_after;
    }
  }

  /**
   * The journal no longer has the next event, or the database was replaced.
   *
   * @param {unknown} error
   */
  async #restart(error) {
    if (!(error instanceof FetchdError) || ![410, 422].includes(error.status)) throw error;
    if (!this.#options.onReset) throw error.status === 410 ? error : new EventsPruned(410, error.problem);
    await this.#begin();
    return { events: [], next_after: this.#position ?? 0 };
  }

  /** @param {unknown} error */
  #delay(error) {
    if (this.#failures === 0) return isHidden() ? 15 * second : second;
    return Math.max(Math.min(15 * second, (second / 2) * 2 ** Math.min(this.#failures, 6)), retryAfter(error) * second);
  }

  // MARK: Streaming

  async #streamForever() {
    while (!this.#isClosed) {
      const mayStream = this.isConnected && !isHidden();
      // If the service offers no stream, it may be updated later.
      await sleep(mayStream && !(await this.#stream()) ? 60 * second : second, this.#stop.signal).catch(() => {});
    }
  }

  /** @returns {Promise<boolean>} whether to try again soon: the stream has sent something, or the service did not answer. */
  async #stream() {
    const limit = new Limit(this.#stop.signal);
    const hide = () => isHidden() && limit.abort();
    globalThis.document?.addEventListener("visibilitychange", hide);
    let hasSpoken = false;
    try {
      const { session, type } = this.#options;
      const query = { after: this.#position, session, type };
      const headers = { Accept: "text/event-stream" };
      const response = await this.#client.open("GET", ["events"], { query, headers, signal: limit.signal, patience: 0 });
      if (!response.headers.get("Content-Type")?.startsWith("text/event-stream")) return false;
      const parser = new EventParser();
      const decoder = new TextDecoder();
      for await (const piece of chunks(response, limit)) {
        if (!hasSpoken) this.#options.onConnection?.({ kind: "live" });
        hasSpoken = this.#streamSpeaks = true;
        await this.#give(parser.take(decoder.decode(piece, { stream: true })).flatMap((event) => this.#taken(event)));
      }
    } catch (error) {
      if (error instanceof EventsPruned) await this.#restart(error);
      // A poll finds the same error.
      else if (!(error instanceof FetchdError || error instanceof ServiceUnavailable || limit.signal.aborted)) throw error;
    } finally {
      globalThis.document?.removeEventListener("visibilitychange", hide);
      limit.abort();
      this.#streamSpeaks = false;
      this.retryNow();
    }
    return hasSpoken || isHidden() || !this.isConnected;
  }

  /** @param {{ type: string, data: string }} event @returns {Document[]} */
  #taken({ type, data }) {
    // The feed continues after the last event, as it does when it polls.
    if (type === "position") return [];
    const document = JSON.parse(data);
    if (type === "reset") throw new EventsPruned(410, document);
    if (type !== "job.progress") return [document];
    return this.#options.progress ? [{ ...document, type }] : [];
  }
}

/** Parses Server-Sent Events (HTML, section 9.2.6). The pieces of their text may be cut anywhere. */
export class EventParser {
  #rest = "";
  #event = { type: "", data: /** @type {string[]} */ ([]), id: /** @type {string | null} */ (null) };

  /**
   * The events that this piece completes; `id` is null if the event has none.
   *
   * @param {string} piece
   */
  take(piece) {
    const lines = (this.#rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.#takeLine(line));
  }

  /** @param {string} line */
  #takeLine(line) {
    if (line === "") return this.#dispatch();
    // A comment: the heartbeat.
    if (line.startsWith(":")) return [];
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#event.type = value;
    if (field === "data") this.#event.data.push(value);
    if (field === "id") this.#event.id = value;
    return [];
  }

  #dispatch() {
    const { type, data, id } = this.#event;
    this.#event = { type: "", data: [], id: null };
    return data.length === 0 ? [] : [{ type: type || "message", data: data.join("\n"), id }];
  }
}

// MARK: Webhooks

/**
 * Returns the event of a webhook's request (Standard Webhooks 1.0.0). The same event can arrive more than once, with the same
 * `webhook-id`.
 *
 * @param {Headers | Record<string, string | string[] | undefined>} headers Those of the request, in any case.
 * @param {string | Uint8Array | ArrayBuffer} body As it arrived.
 * @param {string | string[]} secret `whsec_...`, or several of them while the secret changes; or public keys of the service,
 *   `whpk_...`, for the signature `v1a`.
 * @param {{ tolerance?: number }} options The largest age of the request in seconds; 300 by default.
 * @returns {Promise<Document>}
 * @throws {WebhookError}
 */
export async function verifyWebhook(headers, body, secret, { tolerance = 300 } = {}) {
  const fields = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const given = new Map(fields.map(([name, value]) => [name.toLowerCase(), String(value)]));
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) => given.get(`webhook-${name}`) ?? "");
  if (!id || !signatures || !/^\d+$/.test(timestamp)) throw new WebhookError("the request lacks the headers of a webhook");
  if (Math.abs(Date.now() / second - Number(timestamp)) > tolerance) {
    throw new WebhookError("the request is too old, or the clock of this machine is wrong");
  }
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : new Uint8Array(body);
  const signed = new Uint8Array([...new TextEncoder().encode(`${id}.${timestamp}.`), ...bytes]);
  const { subtle } = globalThis.crypto ?? (await importNode("crypto")).webcrypto;
  for (const one of [secret].flat()) {
    const isPublic = one.startsWith("whpk_");
    const [algorithm, scheme] = isPublic ? [{ name: "Ed25519" }, "v1a,"] : [{ name: "HMAC", hash: "SHA-256" }, "v1,"];
    const key = await subtle.importKey("raw", decoded(one.replace(/^wh(sec|pk)_/, "")), algorithm, false, ["verify"]);
    for (const signature of signatures.split(" ").filter((text) => text.startsWith(scheme))) {
      if (await subtle.verify(algorithm.name, key, decoded(signature.slice(scheme.length)), signed)) return event(bytes);
    }
  }
  throw new WebhookError("no signature of the request is of this secret");
}

/** @param {Uint8Array} bytes @returns {Document} */
function event(bytes) {
  try {
    const document = JSON.parse(new TextDecoder().decode(bytes));
    if (document !== null && typeof document === "object") return document;
  } catch {
    // Falls through: it is no JSON.
  }
  throw new WebhookError("the body is no object of JSON");
}

/** @param {string} base64 */
function decoded(base64) {
  try {
    return Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0));
  } catch {
    throw new WebhookError("the secret or the signature is not base64");
  }
}

// MARK: Parts

/** In milliseconds. */
const second = 1000;
/** Seconds. The service answers a longer wait after these. */
const longestWait = 30;
/** Milliseconds. A stream without events sends a heartbeat every 15 seconds. */
const longestSilence = 40 * second;

/**
 * The refusal in a response whose status is not 2xx.
 *
 * @param {Response} response
 */
async function refusalOf(response) {
  const seconds = Number.parseFloat(response.headers.get("Retry-After") ?? "");
  // The body may be no problem document, but the error page of a proxy. Then only the status is known.
  const problem = await response.json().catch(() => null);
  const kind = problem?.type === "/problems/events-pruned" ? EventsPruned : FetchdError;
  return new kind(response.status, problem, Number.isFinite(seconds) ? seconds : null);
}

/**
 * Whether the same request may succeed later.
 *
 * @param {unknown} error
 */
function isPassing(error) {
  if (!(error instanceof FetchdError)) return error instanceof ServiceUnavailable;
  // 502 and 504 are of a proxy whose service is away. The client may have to wait for its turn (429).
  return [429, 502, 503, 504].includes(error.status) && error.type !== "/problems/quota-exceeded";
}

/**
 * Whether a feed ends with the error: every later request would be refused, too.
 *
 * @param {unknown} error
 */
const isFinal = (error) => !isPassing(error) && !(error instanceof FetchdError && error.status >= 500);

/**
 * Seconds.
 *
 * @param {unknown} error
 */
const retryAfter = (error) => (error instanceof FetchdError ? error.retryAfter ?? 0 : 0);

/** @param {string} message */
const timedOut = (message) => new DOMException(message, "TimeoutError");

/** @param {string} why */
const changed = (why) => new FetchdError(410, { detail: `The file has changed since the download: ${why}.` });

/** crypto.randomUUID is there only for https and localhost; Math.random is there everywhere, and enough for a key of a repetition. */
const newKey = () => Array.from({ length: 4 }, () => Math.random().toString(36).slice(2, 10).padEnd(8, "0")).join("");

/**
 * A module of Node. Its name is put together, so that bundlers for browsers do not look for it.
 *
 * @param {string} name
 * @returns {Promise<any>}
 */
const importNode = (name) => import(/* @vite-ignore */ `node:${name}`);

const isHidden = () => globalThis.document?.hidden === true;

/**
 * The pieces of a body.
 *
 * @param {Response} response
 * @param {Limit} [limit] Ends the request if the body is silent for too long.
 * @throws {ServiceUnavailable} if the body breaks off.
 */
async function* chunks(response, limit) {
  const reader = response.body?.getReader();
  try {
    while (reader) {
      limit?.set(longestSilence);
      const { done, value } = await reader.read().catch((error) => {
        throw new ServiceUnavailable(error);
      });
      limit?.clear();
      if (done) return;
      yield value;
    }
  } finally {
    reader?.cancel().catch(() => {});
  }
}

/** Ends a request when its caller does, or after a time. */
class Limit {
  #controller = new AbortController();
  #caller;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {AbortSignal} [caller] */
  constructor(caller) {
    this.#caller = caller;
    if (caller?.aborted) this.abort();
    caller?.addEventListener("abort", this.#abort);
  }

  get signal() {
    return this.#controller.signal;
  }

  /** @param {number} milliseconds */
  set(milliseconds) {
    this.clear();
    this.#timer = setTimeout(this.#abort, milliseconds);
  }

  clear() {
    clearTimeout(this.#timer);
  }

  abort() {
    this.#abort();
    this.#caller?.removeEventListener("abort", this.#abort);
  }

  #abort = () => {
    this.clear();
    this.#controller.abort(this.#caller?.reason);
  };
}

/** Wakes the one who waits for it, also if it was sent before. */
class Signal {
  #wasSent = false;
  #resolve = () => {};

  send() {
    this.#wasSent = true;
    this.#resolve();
  }

  /** @param {number} [timeout] milliseconds. */
  async next(timeout) {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    if (!this.#wasSent) {
      await new Promise((/** @type {(value?: unknown) => void} */ resolve) => {
        this.#resolve = resolve;
        if (timeout !== undefined) timer = setTimeout(resolve, timeout);
      });
    }
    clearTimeout(timer);
    this.#wasSent = false;
  }
}

/** @param {number} milliseconds @param {AbortSignal} [signal] @returns {Promise<void>} */
function sleep(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    if (signal?.aborted) return reject(signal.reason);
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop);
  });
}
