// Server-Sent Events over fetch, because EventSource cannot send Authorization (HTML, section 9.2.6).

/** Parses the text of a stream into events. The pieces may be cut anywhere. */
export class EventParser {
  #rest = "";
  #event = { type: "", data: [], id: null };

  /** The events that this piece completes: {type, data, id}; `id` is null if the event has none. */
  take(piece) {
    const lines = (this.#rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop();
    return lines.flatMap((line) => this.#takeLine(line));
  }

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
