// The consumers: programs that read the journal, such as `fetchd hooks run`, and what they have not acknowledged yet.

import { address, get, remove } from "./api.js";
import { coalesced } from "./coalesce.js";
import { arrange, byID, element } from "./dom.js";
import { count, counted, time } from "./format.js";
import { complain, tell } from "./notices.js";
import { ask } from "./question.js";

/** The service counts at most so many events. */
const mostCounted = 10_000;

export class ConsumerList {
  #cards = new Map();

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

  #show(consumers) {
    byID("consumers").hidden = consumers.length === 0;
    this.#cards = new Map(consumers.map((consumer) => [consumer.name, this.#card(consumer)]));
    arrange(byID("consumer-list"), [...this.#cards.values()]);
  }

  /** A card is replaced only if it says something else, so that its button keeps the focus. */
  #card(consumer) {
    const text = JSON.stringify(consumer);
    const former = this.#cards.get(consumer.name);
    if (former?.dataset.text === text) return former;
    const reads = `${consumer.events.join(", ")} of ${consumer.session ?? "all sessions"}`;
    const button = element("button", { type: "button", class: "needs-sessions", onclick: () => this.#delete(consumer) }, "Delete");
    button.setAttribute("aria-label", `Delete ${consumer.name}`);
    const card = element(
      "li", { class: "consumer" }, element("h4", {}, consumer.name), element("p", { class: "muted" }, reads),
      element("p", {}, waitingWords(consumer.lag)), givenUpNote(consumer), element("div", { class: "actions" }, button),
    );
    card.dataset.text = text;
    return card;
  }

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

function waitingWords({ events, oldest_at: oldest }) {
  if (events === 0) return "It has acknowledged every event.";
  const number = events < mostCounted ? counted(events, "event") : `${count(events)} events or more`;
  return `It has not acknowledged ${number}; the oldest is of ${time(oldest)}.`;
}

function givenUpNote({ given_up: number, last_given_up: last }) {
  if (number === 0) return null;
  return element("p", { class: "attention" }, `It has given up ${counted(number, "event")}, at last event ${last}.`);
}
