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
export function verifyWebhook(headers: Headers | Record<string, string | string[] | undefined>, body: string | Uint8Array | ArrayBuffer, secret: string | string[], { tolerance }?: {
    tolerance?: number;
}): Promise<Document>;
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
/** The service has refused a request: its problem document (RFC 9457). */
export class FetchdError extends Error {
    /**
     * @param {number} status
     * @param {Document | null} problem null if the answer has none, as that of a proxy.
     * @param {number | null} retryAfter
     */
    constructor(status: number, problem: Document | null, retryAfter?: number | null);
    status: number;
    problem: Document | null;
    /**
     * The kind of the problem, which is stable: `/problems/invalid-value`.
     *
     * @type {string}
     */
    type: string;
    /**
     * The member of the request that has the mistake (RFC 6901).
     *
     * @type {string | null}
     */
    pointer: string | null;
    /** Seconds, or null. */
    retryAfter: number | null;
}
/** Events after the given one are gone, because of their age. Read the jobs again, and then the events from now on. */
export class EventsPruned extends FetchdError {
}
/** The service did not answer for as long as the client waits for it. */
export class ServiceUnavailable extends Error {
    /**
     * @param {unknown} [cause]
     * @param {string} [message]
     */
    constructor(cause?: unknown, message?: string | undefined);
    cause: unknown;
}
/** A download has failed, or was cancelled. */
export class DownloadFailed extends Error {
    /** @param {JobDocument} job */
    constructor(job: JobDocument);
    job: JobDocument;
    /** The stable code of the failure, such as `checksum_mismatch`; `cancelled` for a job that was cancelled. */
    code: string;
}
/** A request is no webhook of the service, or is too old. */
export class WebhookError extends Error {
}
/** A service. */
export class Client {
    /**
     * @param {string | URL | null} [url] The address of the service. By default: of the service that this module comes from; in
     *   Node FETCHD_URL, or http://127.0.0.1:8080.
     * @param {ClientOptions} options
     */
    constructor(url?: string | URL | null | undefined, { token, patience, authorize }?: ClientOptions);
    url: string;
    /** @type {string | null} */
    token: string | null;
    patience: number;
    authorize: ((refusal: FetchdError | null) => Promise<void>) | undefined;
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
    download(url: string, { to, onProgress, timeout, signal, ...job }?: Document & WaitOptions & {
        to?: string | undefined;
        onProgress?: ((progress: Progress) => void) | undefined;
    }): Promise<Job>;
    /**
     * Submits a job, and returns when the service has stored it.
     *
     * @param {string} url
     * @param {Document} [job]
     */
    add(url: string, job?: Document | undefined): Promise<Job>;
    /**
     * Submits up to 10,000 jobs, all or none.
     *
     * @param {Document[]} jobs
     */
    addAll(jobs: Document[]): Promise<Job[]>;
    /** @param {string} id */
    job(id: string): Promise<Job>;
    /**
     * The jobs that the caller may see, the newest first.
     *
     * @param {{ session?: string, state?: string, tag?: string }} [filters]
     */
    jobs(filters?: {
        session?: string | undefined;
        state?: string | undefined;
        tag?: string | undefined;
    } | undefined): AsyncGenerator<Job, void, undefined>;
    /**
     * Gives the job at each change of it and of its progress, up to its end.
     *
     * @param {string} id
     * @param {{ signal?: AbortSignal }} [options]
     */
    watch(id: string, options?: {
        signal?: AbortSignal | undefined;
    } | undefined): AsyncGenerator<Job, void, unknown>;
    /**
     * Adds a job for each line of a list (docs/lists.md). The same list is imported once a day.
     *
     * @param {BodyInit} list A stream is sent once; anything else is sent again if the service restarts.
     * @param {string} format `tsv`, for example.
     * @param {{ session?: string, base?: string, keepGoing?: boolean, signal?: AbortSignal }} options
     * @throws {FetchdError} whose `problem.problems` has the faulty lines.
     * @returns {Promise<Document>} `created`, `existing` and `batch`.
     */
    importList(list: BodyInit, format: string, { session, base, keepGoing, signal }?: {
        session?: string;
        base?: string;
        keepGoing?: boolean;
        signal?: AbortSignal;
    }): Promise<Document>;
    /**
     * Declares a session, or attaches to it again.
     *
     * @param {string} id
     * @param {Document} [configuration] Replaces the present one.
     */
    session(id: string, configuration?: Document | undefined): Promise<Session>;
    /**
     * The events of the journal, until the iteration ends or the feed is closed. It outlasts restarts of the service, and misses no
     * event. In a browser, a hidden page keeps no stream open.
     *
     * @param {EventOptions} [options]
     */
    events(options?: EventOptions | undefined): EventFeed;
    /** @returns {Promise<Document>} */
    stats(): Promise<Document>;
    /** A ticket replaces the token in the query of one request within 30 seconds, for links and EventSource. */
    ticket(): Promise<string>;
    /**
     * An address of the API.
     *
     * @param {string[]} path Its parts, which are encoded here.
     * @param {RequestOptions["query"]} [query]
     */
    address(path: string[], query?: RequestOptions["query"]): URL;
    /**
     * Sends a request until the service answers it, and returns the document of the answer. A POST is carried out once, also if it
     * must be repeated.
     *
     * @param {string} method
     * @param {string[] | URL} path Parts of a path, or an address that was made of them.
     * @param {RequestOptions} [options]
     * @returns {Promise<any>}
     */
    request(method: string, path: string[] | URL, options?: RequestOptions | undefined): Promise<any>;
    /**
     * Sends a request until the service answers it, and returns the answer with its document; 204 and 304 have none.
     *
     * @param {string} method
     * @param {string[] | URL} path
     * @param {RequestOptions} [options]
     * @returns {Promise<{ status: number, headers: Headers, document: any }>}
     */
    exchange(method: string, path: string[] | URL, options?: RequestOptions | undefined): Promise<{
        status: number;
        headers: Headers;
        document: any;
    }>;
    /**
     * Sends a request until the service answers it, and returns the answer, whose body can be read.
     *
     * @param {string} method
     * @param {string[] | URL} path
     * @param {RequestOptions} [options]
     * @returns {Promise<Response>}
     */
    open(method: string, path: string[] | URL, options?: RequestOptions | undefined): Promise<Response>;
    #private;
}
/** One download. `for await (const progress of job)` gives its progress up to its end. */
export class Job {
    /** @param {Client} client @param {JobDocument} document */
    constructor(client: Client, document: JobDocument);
    /** What the service said of the job last. */
    document: JobDocument;
    get id(): string;
    get state(): "failed" | "succeeded" | "waiting" | "paused" | "running" | "queued" | "cancelled";
    get hasEnded(): boolean;
    /** The finished file, relative to the downloads folder of the service; null before. */
    get path(): string | null;
    refresh(): Promise<Job>;
    /**
     * Gives the job at each change of it and of its progress, up to its end.
     *
     * @param {{ signal?: AbortSignal }} options
     */
    watch({ signal }?: {
        signal?: AbortSignal;
    }): AsyncGenerator<Job, void, unknown>;
    /**
     * Waits until the job has succeeded.
     *
     * @param {WaitOptions & { onProgress?: (progress: Progress) => void }} options
     * @throws {DownloadFailed} and a DOMException `TimeoutError`.
     */
    wait({ timeout, onProgress, signal }?: WaitOptions & {
        onProgress?: ((progress: Progress) => void) | undefined;
    }): Promise<Job>;
    /**
     * The finished file, as it is read.
     *
     * @param {{ headers?: Record<string, string>, signal?: AbortSignal }} [options]
     */
    file(options?: {
        headers?: Record<string, string> | undefined;
        signal?: AbortSignal | undefined;
    } | undefined): Promise<Response>;
    /** An address of the finished file for a link of a page, which works once within 30 seconds if the service wants a token. */
    link(): Promise<string>;
    /**
     * Copies the finished file to this machine, and compares its digest. Not in a browser.
     *
     * @param {string} to A file or a folder.
     * @returns {Promise<string>} the path of the copy.
     */
    save(to: string): Promise<string>;
    pause(): Promise<Job>;
    resume(): Promise<Job>;
    /** @param {{ produceResumeData?: boolean }} options */
    cancel({ produceResumeData }?: {
        produceResumeData?: boolean;
    }): Promise<Job>;
    retry(): Promise<Job>;
    /**
     * Replaces members of the job, such as `url` of an expired link. null removes one.
     *
     * @param {Document} members
     */
    change(members: Document): Promise<Job>;
    /**
     * Forgets the job, after it was cancelled if it has not ended.
     *
     * @param {{ file?: "keep" | "delete" }} options
     */
    delete({ file }?: {
        file?: "keep" | "delete";
    }): Promise<void>;
    /** @returns {AsyncGenerator<Progress>} */
    [Symbol.asyncIterator](): AsyncGenerator<Progress>;
    #private;
}
/** A group of jobs with one configuration. A program that starts again attaches to it by its name. */
export class Session {
    /** @param {Client} client @param {Document} document */
    constructor(client: Client, document: Document);
    document: Document;
    /** @returns {string} */
    get id(): string;
    refresh(): Promise<Session>;
    /** @param {string} url @param {Document} [job] */
    add(url: string, job?: Document | undefined): Promise<Job>;
    /**
     * Submits up to 10,000 jobs, all or none.
     *
     * @param {Document[]} jobs
     */
    addAll(jobs: Document[]): Promise<Job[]>;
    /** @param {BodyInit} list @param {string} format @param {{ base?: string, keepGoing?: boolean, signal?: AbortSignal }} [options] */
    importList(list: BodyInit, format: string, options?: {
        base?: string | undefined;
        keepGoing?: boolean | undefined;
        signal?: AbortSignal | undefined;
    } | undefined): Promise<Document>;
    /** @param {{ state?: string, tag?: string }} [filters] */
    jobs(filters?: {
        state?: string | undefined;
        tag?: string | undefined;
    } | undefined): AsyncGenerator<Job, void, undefined>;
    /** @param {EventOptions} [options] */
    events(options?: EventOptions | undefined): EventFeed;
    /**
     * Waits for the next finish of the session: all jobs of a batch have ended. A finish that was not acknowledged, because the
     * program ended before, comes again.
     *
     * @param {WaitOptions & { acknowledge?: boolean }} options `acknowledge`: false if the caller acknowledges the finish when
     *   its results are stored.
     * @throws a DOMException `TimeoutError`.
     */
    waitForFinish({ timeout, acknowledge, signal }?: WaitOptions & {
        acknowledge?: boolean;
    }): Promise<Finish>;
    /** @param {number} through The number of an event. */
    acknowledge(through: number): Promise<Session>;
    /**
     * The finished files with their digests, for `sha256sum --check` in the downloads folder.
     *
     * @param {"sha256sum" | "tsv"} [format]
     */
    manifest(format?: "sha256sum" | "tsv" | undefined): Promise<string>;
    #private;
}
/** All jobs of a batch have ended. */
export class Finish {
    /** @param {Session} session @param {Document} document */
    constructor(session: Session, document: Document);
    document: Document;
    /**
     * The number of the event.
     *
     * @type {number}
     */
    event: number;
    /** @type {number} */
    batch: number;
    /** @type {"succeeded" | "partly_failed" | "failed" | "cancelled"} */
    outcome: "succeeded" | "partly_failed" | "failed" | "cancelled";
    /** @type {Record<string, number>} */
    counts: Record<string, number>;
    /**
     * The first failures.
     *
     * @type {{ job: string, code: string, message: string }[]}
     */
    failures: {
        job: string;
        code: string;
        message: string;
    }[];
    /** Tells the service that its client has the finish. A token without the scope `sessions` may not. */
    acknowledge(): Promise<void>;
    #private;
}
/**
 * The events of the journal, each once and in order, over interruptions. They come by a stream if possible. Until the stream has
 * sent its first bytes, and if it is silent (for example behind a proxy that buffers responses), the feed polls every second.
 */
export class EventFeed {
    /** @param {Client} client @param {EventOptions} [options] */
    constructor(client: Client, options?: EventOptions | undefined);
    /** Whether the events come by a stream. */
    get isStreaming(): boolean;
    get isConnected(): boolean;
    /** Tries at once in place of the next time. */
    retryNow(): void;
    close(): void;
    /** @returns {AsyncGenerator<Document>} */
    [Symbol.asyncIterator](): AsyncGenerator<Document>;
    #private;
}
/** Parses Server-Sent Events (HTML, section 9.2.6). The pieces of their text may be cut anywhere. */
export class EventParser {
    /**
     * The events that this piece completes; `id` is null if the event has none.
     *
     * @param {string} piece
     */
    take(piece: string): {
        type: string;
        data: string;
        id: string | null;
    }[];
    #private;
}
/**
 * A document of the API, as openapi.yaml describes it.
 */
export type Document = Record<string, any>;
export type Progress = {
    bytes_received: number;
    /**
     * What a crash of the service would not lose.
     */
    bytes_durable: number;
    /**
     * null if the server does not say it.
     */
    bytes_expected: number | null;
    /**
     * 0 to 1; null if `bytes_expected` is null.
     */
    fraction: number | null;
    bytes_per_second: number | null;
    eta_seconds: number | null;
};
export type JobMembers = {
    id: string;
    session: string;
    state: "queued" | "running" | "waiting" | "paused" | "succeeded" | "failed" | "cancelled";
    revision: number;
    url: string;
    progress: Progress;
    file: {
        path: string;
        size: number;
        sha256: string | null;
        content_type: string | null;
    } | null;
    failure: {
        code: string;
        message: string;
    } | null;
};
export type JobDocument = Document & JobMembers;
export type ClientOptions = {
    /**
     * A token of the service; in Node by default FETCHD_TOKEN.
     */
    token?: string | null | undefined;
    /**
     * Seconds for which a request waits for a service that does not answer, for example because it
     * restarts; 30 by default.
     */
    patience?: number | undefined;
    /**
     * Called if the service refuses the token, or wants one
     * (then with null). It sets `client.token`, and the request is sent again.
     */
    authorize?: ((refusal: FetchdError | null) => Promise<void>) | undefined;
};
export type RequestOptions = {
    /**
     * Empty values are not sent.
     */
    query?: Record<string, string | number | boolean | null | undefined> | undefined;
    /**
     * The body, as JSON.
     */
    json?: unknown;
    /**
     * Any other body. A stream is sent once.
     */
    body?: BodyInit | undefined;
    headers?: Record<string, string> | undefined;
    signal?: AbortSignal | undefined;
    /**
     * Seconds until the answer; 75 by default, because the service answers waits after 30.
     */
    timeout?: number | undefined;
    /**
     * In place of the client's.
     */
    patience?: number | undefined;
};
export type WaitOptions = {
    /**
     * Seconds; without it, there is no limit.
     */
    timeout?: number | undefined;
    signal?: AbortSignal | undefined;
};
/**
 * "live": events come by a
 * stream. "broken": the next attempt is at `at`, in milliseconds since 1970.
 */
export type Connection = {
    kind: "live" | "polling";
} | {
    kind: "broken";
    at: number;
    error: Error;
};
export type EventOptions = {
    /**
     * The last event that the caller knows; by default the events from now on.
     */
    after?: number | undefined;
    session?: string | undefined;
    /**
     * `job.succeeded`, for example.
     */
    type?: string | undefined;
    /**
     * Whether `job.progress` is given, too. Such a document has no `id`. It comes only by a stream.
     */
    progress?: boolean | undefined;
    signal?: AbortSignal | undefined;
    /**
     * Reads again what the caller shows, and may return a promise. It is
     * called at the beginning, after an interruption, and, in place of EventsPruned, if events are gone.
     */
    onReset?: ((sessions: Document[]) => unknown) | undefined;
    /**
     * With it, a refusal by the service does not end the events, but is
     * reported here.
     */
    onConnection?: ((connection: Connection) => void) | undefined;
};
