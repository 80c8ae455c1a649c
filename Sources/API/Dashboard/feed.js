// Receives the events of the journal. It uses a stream if possible. Until the stream has sent its first bytes, and if it is
// silent (for example behind a proxy that buffers responses), it polls the journal every second. In both cases it delivers
// each event once and in order, and misses no event after an interruption.

import { address, get, open, query } from "./api.js";
import { NoAnswer, Refusal, refusalIn } from "./problems.js";
import { EventParser } from "./sse.js";

/** Milliseconds. */
const pollPause = 1000;
const hiddenPollPause = 15_000;
const longestDelay = 15_000;
/** A stream without events sends a heartbeat every 15 seconds. */
const longestSilence = 40_000;
/** If the service offers no stream, try again after this time: it may have been updated. */
const streamPause = 60_000;

export class Feed {
  /** The last event that was delivered; null before the first answer of the service. */
  #position = null;
  #streamSpeaks = false;
  #failures = 0;
  #wake = () => {};
  #on;

  /**
   * @param on {reset, event, progress, connection}: read everything again; an event of the journal; the progress of a job;
   *   the state of the connection: {kind: "live" | "polling" | "broken", at, error}. `at` is the time of the next attempt.
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

  /** Tries again at once. */
  now() {
    this.#wake();
  }

  /** Whether the events come from the stream. */
  get isStreaming() {
    return this.#streamSpeaks;
  }

  get isConnected() {
    return this.#position !== null && this.#failures === 0;
  }

  // MARK: Polling

  async #pollForever() {
    for (;;) {
      // A poll that has failed is repeated, even if the stream has begun to speak meanwhile: the page says that it is broken.
      const isNeeded = !this.#streamSpeaks || this.#failures > 0;
      await this.#pause(this.#delay(isNeeded ? await this.#poll() : null));
    }
  }

  /** @returns the error, if there was one. */
  async #poll() {
    try {
      if (this.#position === null) await this.#begin();
      else await this.#readOn();
      if (this.#failures > 0) await this.#on.reset((await get(address("sessions"))).sessions);
      this.#failures = 0;
      this.#on.connection({ kind: this.#streamSpeaks ? "live" : "polling" });
      return null;
    } catch (error) {
      this.#failures += 1;
      this.#on.connection({ kind: "broken", at: Date.now() + this.#delay(error), error });
      return error;
    }
  }

  /** Reads everything again, after it has noted the present position in the journal. */
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
      // The journal no longer has the next event, or the database was replaced.
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

  // MARK: Streaming

  async #streamForever() {
    for (;;) {
      // A browser has few connections to one host, so a hidden page keeps no stream open.
      if (this.isConnected && !document.hidden && !(await this.#stream())) await sleep(streamPause);
      else await sleep(pollPause);
    }
  }

  /** @returns whether to try again soon: the stream has sent something, or the service did not answer. */
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
    // The page continues after the last event, as it does when it polls.
    if (type === "position") return;
    const document = JSON.parse(data);
    if (type === "job.progress") this.#on.progress(document);
    else this.#tell(document);
  }

  /** The stream has skipped events, so everything is read again, as after an interruption. */
  #streamReset() {
    this.#position = null;
    throw new NoAnswer();
  }
}

/** The events of a stream, for each piece of it; a piece may have none. Aborts a stream that is silent for too long. */
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
