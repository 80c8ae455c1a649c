// What happens, as it happens. The journal is streamed where that works; until the stream has said its first word, and
// wherever it has fallen silent (a proxy that gathers answers before it passes them on), the journal is asked every
// second. Either way each event is told once, in order, and after an interruption none is missing.

import { address, get, open, query } from "./api.js";
import { NoAnswer, Refusal, refusalIn } from "./problems.js";
import { EventParser } from "./sse.js";

/** Milliseconds. */
const pollPause = 1000;
const hiddenPollPause = 15_000;
const longestDelay = 15_000;
/** A stream says something every 15 seconds, if only that it is there. */
const longestSilence = 40_000;
/** Where there is no stream, there may be one after an update. */
const streamPause = 60_000;

export class Feed {
  /** The last event that was told; null before the service was first reached. */
  #position = null;
  #streamSpeaks = false;
  #failures = 0;
  #wake = () => {};
  #on;

  /**
   * @param on {reset, event, progress, connection}: everything is to be read anew; an event of the journal; how a job
   *   gets on; how the connection is: {kind: "live" | "polling" | "broken", at, error}, `at` being the next try.
   */
  constructor(on) {
    this.#on = on;
  }

  start() {
    document.addEventListener("visibilitychange", () => this.now());
    window.addEventListener("online", () => this.now());
    this.#pollForever();
    this.#streamForever();
  }

  /** Tries again now rather than later. */
  now() {
    this.#wake();
  }

  /** Whether changes come by themselves. */
  get isStreaming() {
    return this.#streamSpeaks;
  }

  get isConnected() {
    return this.#position !== null && this.#failures === 0;
  }

  // MARK: Asking

  async #pollForever() {
    for (;;) {
      if (!this.#streamSpeaks) await this.#poll();
      await this.#pause(this.#delay());
    }
  }

  async #poll() {
    try {
      if (this.#position === null) await this.#begin();
      else await this.#readOn();
      if (this.#failures > 0) await this.#on.reset((await get(address("sessions"))).sessions);
      this.#failures = 0;
      this.#on.connection({ kind: this.#streamSpeaks ? "live" : "polling" });
    } catch (error) {
      this.#failures += 1;
      this.#on.connection({ kind: "broken", at: Date.now() + this.#delay(error), error });
    }
  }

  /** Everything is read anew, behind a position that was noted before. */
  async #begin() {
    const { sessions } = await get(address("sessions"));
    this.#position = Math.max(0, ...sessions.map((session) => session.last_event));
    await this.#on.reset(sessions);
  }

  async #readOn() {
    try {
      const page = await get(query(address("events"), { after: this.#position, limit: 1000 }));
      for (const event of page.events) this.#tell(event);
      this.#position = Math.max(this.#position, page.next_after);
    } catch (error) {
      // The journal no longer has what comes next, or it is another service's journal by now.
      if (!(error instanceof Refusal) || ![410, 422].includes(error.status)) throw error;
      await this.#begin();
    }
  }

  #tell(event) {
    if (event.id <= this.#position) return;
    this.#position = event.id;
    this.#on.event(event);
  }

  #delay(error) {
    if (this.#failures === 0) return document.hidden ? hiddenPollPause : pollPause;
    const backoff = Math.min(longestDelay, 500 * 2 ** Math.min(this.#failures, 6));
    return Math.max(backoff, (error?.retryAfter ?? 0) * 1000);
  }

  #pause(milliseconds) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  // MARK: Being told

  async #streamForever() {
    for (;;) {
      // A browser has few connections to one host: a page that nobody looks at keeps none.
      if (this.isConnected && !document.hidden && !(await this.#stream())) await sleep(streamPause);
      else await sleep(pollPause);
    }
  }

  /** Whether it makes sense to try again soon: it spoke, or nobody answered. */
  async #stream() {
    const stop = new AbortController();
    const hide = () => document.hidden && stop.abort();
    document.addEventListener("visibilitychange", hide);
    let hasSpoken = false;
    try {
      const stream = await this.#open(stop.signal);
      if (!stream) return false;
      for await (const events of pieces(stream, stop)) {
        hasSpoken = this.#streamSpeaks = true;
        this.#on.connection({ kind: "live" });
        for (const event of events) this.#takeStreamed(event);
      }
    } catch (error) {
      const isExpected = stop.signal.aborted || error instanceof NoAnswer;
      if (!isExpected) console.info("The stream of events ended:", error.message);
    } finally {
      document.removeEventListener("visibilitychange", hide);
      stop.abort();
      this.#streamSpeaks = false;
      this.now();
    }
    return hasSpoken || document.hidden || !this.isConnected;
  }

  async #open(signal) {
    const response = await open(query(address("events"), { after: this.#position }), {
      headers: { Accept: "text/event-stream" }, signal,
    });
    if (response.ok && response.headers.get("Content-Type")?.startsWith("text/event-stream")) return response.body;
    if (!response.ok) throw await refusalIn(response);
    await response.body.cancel();
    return null;
  }

  #takeStreamed({ type, data }) {
    if (type === "reset") return this.#streamReset();
    const document = JSON.parse(data);
    if (type === "job.progress") this.#on.progress(document);
    else this.#tell(document);
  }

  /** Too much has happened: it is read anew, as after an interruption. */
  #streamReset() {
    this.#position = null;
    throw new NoAnswer();
  }
}

/** The events of a stream, piece by piece; a piece may hold none. One that falls silent is given up. */
async function* pieces(stream, stop) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  const parser = new EventParser();
  for (;;) {
    const silence = setTimeout(() => stop.abort(), longestSilence);
    try {
      const { done, value } = await reader.read();
      if (done) return;
      yield parser.take(value);
    } finally {
      clearTimeout(silence);
    }
  }
}

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
