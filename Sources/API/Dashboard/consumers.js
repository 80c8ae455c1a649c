// The consumers: programs that read the journal, such as `fetchd hooks run`, and what they have not acknowledged yet.

import { address, get, remove } from "./api.js";
import { coalesced } from "./coalesce.js";
import { byID } from "./dom.js";
import { count, counted, time } from "./format.js";
import { complain, tell } from "./notices.js";
import { ask } from "./question.js";
import { h, render } from "./render.js";

/** The service counts at most so many events. */
const mostCounted = 10_000;

export class ConsumerList {
  constructor() {
    this.refresh = coalesced(() => this.#read(), 1000);
  }

  async #read() {
    try {
      this.#show((await get(address("consumers"))).consumers);
    } catch {
      // The feed reports that the service is unreachable, and refreshes this list later.
    }
  }

  /** @param {Record<string, any>[]} consumers */
  #show(consumers) {
    byID("consumers").hidden = consumers.length === 0;
    render(byID("consumer-list"), consumers.map((consumer) => this.#entry(consumer)));
  }

  /** @param {Record<string, any>} consumer */
  #entry(consumer) {
    const { name, events, session, lag, given_up: givenUp, last_given_up: last } = consumer;
    return h(
      "li", { key: name, class: "consumer" }, h("h4", {}, name),
      h("p", { class: "muted" }, `${events.join(", ")} of ${session ?? "all sessions"}`), h("p", {}, waitingWords(lag)),
      givenUp > 0 && h("p", { class: "attention" }, `It has given up ${counted(givenUp, "event")}, at last event ${last}.`),
      h("div", {}, h(
        "button", { type: "button", class: "needs-sessions", "aria-label": `Delete ${name}`, onclick: () => this.#delete(consumer) }, "Delete")));
  }

  /** @param {Record<string, any>} consumer */
  async #delete({ name, lag }) {
    const words = `Its position is forgotten, and with it ${counted(lag.events, "event")} that it has not acknowledged.`;
    if (!(await ask(`Delete the consumer ${name}?`, words, "Delete"))) return;
    try {
      await remove(address("consumers", name));
      tell(`The consumer ${name} is deleted.`);
    } catch (error) {
      complain(error);
    }
    this.refresh();
  }
}

/** @param {{ events: number, oldest_at: string }} lag */
function waitingWords({ events, oldest_at: oldest }) {
  if (events === 0) return "It has acknowledged every event.";
  const number = events < mostCounted ? counted(events, "event") : `${count(events)} events or more`;
  return `It has not acknowledged ${number}; the oldest is of ${time(oldest)}.`;
}
