// The sheet of a webhook: every delivery with every attempt, what was sent and answered, and buttons that send again.

import { address, get, post, query } from "./api.js";
import { answerWords, statisticsWords } from "./attempts.js";
import { counted, exactDuration, secondsUntil, duration, time } from "./format.js";
import { announce, complain, copyButton, tell } from "./notices.js";
import { sentence } from "./problems.js";
import { h } from "./render.js";
import { fillSheet, focusSheet, takeSheet } from "./sheet.js";
import { leaveSheet } from "./views.js";
import { deliveryStates } from "./words.js";

const pageSize = 50;
/** Milliseconds. */
const refreshPause = 1000;

/** @typedef {{ sent: string, answer: string, job?: string }} Exchange the last attempt, as HTTP, and the download of its event. */

export class WebhookSheet {
  kind = "webhooks";
  /** @type {Webhook | null} */
  #webhook = null;
  /**
   * The newest event first.
   * @type {Map<string, Delivery>}
   */
  #deliveries = new Map();
  /**
   * Those that the user has opened.
   * @type {Map<string, Exchange>}
   */
  #exchanges = new Map();
  #state = "";
  /** @type {string | null} */
  #cursor = null;
  #error = "";
  #isRead = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /**
   * Shows the deliveries of the webhook of an address.
   * @param {string} session @param {string} name
   */
  async show(session, name) {
    try {
      const webhook = await get(address("sessions", session, "webhooks", name));
      takeSheet(this);
      this.#webhook = webhook;
      this.#state = "";
      await this.#startOver();
      focusSheet();
      if (this.#webhook === webhook) this.#keepFresh(webhook);
    } catch (error) {
      complain(error);
      leaveSheet(this.kind);
    }
  }

  closed() {
    this.#webhook = null;
    clearTimeout(this.#timer);
  }

  async #startOver() {
    this.#deliveries.clear();
    this.#exchanges.clear();
    this.#isRead = false;
    this.#render();
    await this.#read(null);
  }

  /**
   * Attempts are not in the journal, so the page polls the newest deliveries while the sheet is open.
   * @param {Webhook} webhook
   */
  #keepFresh(webhook) {
    // The sheet may have been closed and opened again before its first answer.
    clearTimeout(this.#timer);
    this.#timer = setTimeout(async () => {
      if (!document.hidden) await this.#read(null, true);
      if (this.#webhook === webhook) this.#keepFresh(webhook);
    }, refreshPause);
  }

  /** @param {string | null} cursor @param {boolean} [isAgain] whether the newest ones are read again. */
  async #read(cursor, isAgain = false) {
    const [webhook, state] = [this.#webhook, this.#state];
    if (!webhook) return;
    try {
      const page = await get(query(logOf(webhook), { limit: pageSize, cursor, state }));
      if (this.#webhook !== webhook || this.#state !== state) return;
      for (const delivery of page.deliveries) this.#deliveries.set(delivery.id, delivery);
      if (!isAgain) this.#cursor = page.next_cursor;
      [this.#isRead, this.#error] = [true, ""];
    } catch (error) {
      this.#error = sentence(error);
    }
    this.#render();
  }

  // MARK: Showing

  #render() {
    const webhook = this.#webhook;
    if (!webhook) return;
    const deliveries = [...this.#deliveries.values()].sort((one, other) => other.event - one.event);
    const hasGivenUp = deliveries.some((delivery) => delivery.state === "exhausted");
    fillSheet(
      this, `Deliveries to ${webhook.session} / ${webhook.name}`,
      h("p", { class: "muted" }, "Session ", h("a", { href: `#/sessions/${webhook.session}` }, webhook.session), `. ${
        statisticsWords(webhook.statistics)}`),
      h("div", { class: "tools" }, this.#filter(), hasGivenUp && h(
        "button", { key: "again", type: "button", class: "needs-sessions", onclick: () => this.#redeliverAll() },
        "Send all that were given up again")),
      this.#error && h("p", { key: "error", class: "error", role: "alert" }, this.#error),
      this.#isRead && deliveries.length === 0 && h("p", { key: "empty", class: "empty" }, "There are no deliveries yet."),
      h("ul", { key: "list", class: "deliveries" }, deliveries.map((delivery) => this.#entry(delivery))),
      this.#cursor && h("div", { key: "more", class: "dialog-actions" },
        h("button", { type: "button", onclick: () => this.#read(this.#cursor) }, "Older deliveries")));
  }

  #filter() {
    const choose = (/** @type {{ currentTarget: HTMLSelectElement }} */ { currentTarget }) => {
      this.#state = currentTarget.value;
      this.#startOver();
    };
    const options = Object.entries({ "": "All", ...deliveryStates }).map(([value, name]) => h("option", { key: value, value }, name));
    return h("label", { class: "inline-search" }, "State ", h("select", { value: this.#state, onchange: choose }, options));
  }

  /** @param {Delivery} delivery */
  #entry(delivery) {
    const { id, event, type, state, attempts } = delivery;
    const toggle = (/** @type {{ currentTarget: HTMLDetailsElement }} */ { currentTarget }) => currentTarget.open && this.#readExchange(id);
    return h(
      "li", { key: id, class: "delivery", "data-event": event, "data-state": state },
      h("div", { class: "delivery-head" }, h("strong", {}, `${type}, event ${event}`), h("span", { class: "state" }, deliveryStates[state]),
        h("button", { type: "button", class: "needs-sessions", "aria-label": `Resend: event ${event}`,
          onclick: () => this.#redeliver(delivery) }, "Resend")),
      h("p", { class: "note" }, nextWords(delivery, this.#deliveries.get(delivery.blocked_by))),
      h("ol", { class: "attempts" }, attempts.map(attemptItem)),
      h("details", { ontoggle: toggle }, h("summary", {}, "Request and answer of the last attempt"), exchange(this.#exchanges.get(id))));
  }

  /** @param {string} id */
  async #readExchange(id) {
    try {
      this.#exchanges.set(id, exchangeOf(await get(address("deliveries", id))));
    } catch (error) {
      this.#exchanges.set(id, { sent: sentence(error), answer: "" });
    }
    this.#render();
  }

  // MARK: Sending again

  /** @param {Delivery} delivery */
  async #redeliver(delivery) {
    try {
      this.#deliveries.set(delivery.id, await post(address("deliveries", delivery.id, "redeliver")));
      announce(`Event ${delivery.event} will be sent again.`);
    } catch (error) {
      this.#error = sentence(error);
    }
    this.#render();
  }

  /** Sends everything again that the endpoint never accepted. */
  async #redeliverAll() {
    const webhook = this.#webhook;
    if (!webhook) return;
    let [cursor, sent] = [null, 0];
    try {
      do {
        const page = await get(query(logOf(webhook), { limit: pageSize, cursor, state: "exhausted" }));
        for (const delivery of page.deliveries) await post(address("deliveries", delivery.id, "redeliver"));
        [cursor, sent] = [page.next_cursor, sent + page.deliveries.length];
      } while (cursor);
      tell(`${counted(sent, "delivery", "deliveries")} will be sent again.`);
    } catch (error) {
      this.#error = sentence(error);
    }
    if (this.#webhook === webhook) await this.#startOver();
  }
}

/** @param {Webhook} webhook */
function logOf({ session, name }) {
  return address("sessions", session, "webhooks", name, "deliveries");
}

/** @param {Delivery} delivery @param {Delivery | undefined} blocker the delivery that holds this one back, if it is shown. */
function nextWords({ state, next_attempt_at: next, blocked_by: blockedBy }, blocker) {
  if (state !== "pending") return "";
  if (blockedBy) {
    const earlier = blocker ? `event ${blocker.event} (${blocker.type})` : `delivery ${blockedBy} of an earlier event`;
    return `Waits until ${earlier} is accepted or given up.`;
  }
  const left = secondsUntil(next);
  return left > 1 ? `Next attempt in ${duration(left)}.` : "Next attempt now.";
}

/**
 * What was sent and what came back.
 * @param {Delivery} delivery @returns {Exchange}
 */
function exchangeOf({ attempts, body }) {
  const last = attempts.at(-1);
  const job = body?.data?.job ?? body?.job;
  if (!last) return { sent: "Nothing was sent yet.", answer: "", job };
  if (!last.request) return { sent: "An earlier version of fetchd did not keep it.", answer: "", job };
  const fields = (/** @type {{ name: string, value: string }[]} */ headers) => headers.map(({ name, value }) => `${name}: ${value}`);
  const content = body === null ? "(The event is no longer in the journal.)" : JSON.stringify(body, null, 2);
  const sent = [`POST ${last.request.url}`, ...fields(last.request.headers), "", content];
  const answer = last.status === null ? [last.error] : [last.status, ...fields(last.response_headers ?? []), "", last.response ?? ""];
  return { sent: sent.join("\n"), answer: answer.join("\n"), job };
}

/** @param {Exchange | undefined} exchange */
function exchange(exchange) {
  if (!exchange) return null;
  const half = (/** @type {string} */ what, /** @type {string} */ text) => h("div", {},
    h("h4", {}, what.charAt(0).toUpperCase() + what.slice(1)), h("pre", { tabindex: "0", "aria-label": `The ${what}` }, text),
    copyButton(`Copy the ${what}`, what, () => text));
  return h("div", {},
    exchange.job && h("p", {}, h("a", { href: `#/jobs/${exchange.job}` }, "Open the download of this event")),
    h("div", { class: "exchange" }, half("request", exchange.sent), half("answer", exchange.answer)));
}

/** @param {Attempt} attempt */
function attemptItem(attempt) {
  const words = `${time(attempt.at)}: ${answerWords(attempt)} (${exactDuration(attempt.latency_seconds)})`;
  if (!attempt.response) return h("li", {}, words);
  return h("li", {}, h("details", {}, h("summary", {}, words), h("pre", { tabindex: "0" }, attempt.response)));
}
