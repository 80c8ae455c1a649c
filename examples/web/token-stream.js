// Replaces EventSource for a service with a token: EventSource cannot send Authorization, and a token does not belong into a
// URL. A TokenStream does not reconnect by itself: its owner opens another one, after the last event.

export class TokenStream extends EventTarget {
  readyState = EventSource.CONNECTING;
  #stop = new AbortController();

  constructor(url, token) {
    super();
    this.#read(url, { Accept: "text/event-stream", Authorization: `Bearer ${token}` }).catch(() => {}).finally(() => {
      if (this.readyState === EventSource.CLOSED) return;
      this.readyState = EventSource.CLOSED;
      this.dispatchEvent(new Event("error"));
    });
  }

  close() {
    this.readyState = EventSource.CLOSED;
    this.#stop.abort();
  }

  async #read(url, headers) {
    const response = await fetch(url, { headers, signal: this.#stop.signal });
    if (!response.ok) return;
    this.readyState = EventSource.OPEN;
    this.dispatchEvent(new Event("open"));
    let rest = "";
    for await (const piece of chunks(response.body.pipeThrough(new TextDecoderStream()))) {
      // fetchd ends each line with a line feed and each event with an empty line. A chunk can end anywhere.
      const blocks = (rest + piece).split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) this.#take(block);
    }
  }

  /** A line with only a colon is a heartbeat. */
  #take(block) {
    const fields = new Map(block.split("\n").map((line) => line.split(/: (.*)/s, 2)));
    if (fields.has("data")) this.dispatchEvent(new MessageEvent(fields.get("event"), { data: fields.get("data") }));
  }
}

/** Some browsers cannot iterate over a stream directly. */
async function* chunks(stream) {
  const reader = stream.getReader();
  for (let next; !(next = await reader.read()).done; ) yield next.value;
}
