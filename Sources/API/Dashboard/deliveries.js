// The delivery log of a webhook: every delivery with every attempt, and a button that sends it again.

import { address, get, post, query } from "./api.js";
import { answerWords, statisticsWords } from "./attempts.js";
import { byID, closeByButtons, element, keepFocus, setText } from "./dom.js";
import { counted, exactDuration, secondsUntil, duration, time } from "./format.js";
import { announce, complain, copyButton, tell } from "./notices.js";
import { sentence } from "./problems.js";
import { leaveSheet } from "./views.js";
import { deliveryStates } from "./words.js";

const pageSize = 50;
/** Milliseconds. */
const refreshPause = 1000;

export class DeliveryLog {
  #dialog = byID("deliveries-dialog");
  #list = byID("delivery-list");
  #entries = new Map();
  #webhook = null;
  #cursor = null;
  #timer = null;

  constructor() {
    closeByButtons(this.#dialog);
    this.#dialog.addEventListener("close", () => {
      // The event comes later than the closing: another log may be shown by then.
      if (this.#dialog.open) return;
      this.#webhook = null;
      leaveSheet("webhooks");
      clearTimeout(this.#timer);
    });
    byID("deliveries-more").addEventListener("click", () => this.#read(this.#cursor));
    const names = { "": "All", ...deliveryStates };
    byID("deliveries-state").append(...Object.entries(names).map(([value, name]) => element("option", { value }, name)));
    byID("deliveries-state").addEventListener("change", () => this.#startOver());
    byID("deliveries-again").addEventListener("click", () => this.#redeliverAll());
  }

  /** Shows the deliveries of the webhook of an address; null: of none. */
  async show(session, name) {
    if (!session) return this.#dialog.open && this.#dialog.close();
    try {
      await this.#open(await get(address("sessions", session, "webhooks", name)));
    } catch (error) {
      complain(error);
      leaveSheet("webhooks");
    }
  }

  async #open(webhook) {
    this.#webhook = webhook;
    byID("deliveries-state").value = "";
    setText(byID("deliveries-words"), statisticsWords(webhook.statistics));
    setText(byID("deliveries-heading"), `Deliveries to ${webhook.session} / ${webhook.name}`);
    if (!this.#dialog.open) this.#dialog.showModal();
    byID("deliveries-heading").focus();
    await this.#startOver();
    if (this.#webhook === webhook) this.#keepFresh(webhook);
  }

  async #startOver() {
    this.#entries = new Map();
    this.#list.replaceChildren();
    await this.#read(null);
  }

  /** Attempts are not in the journal, so the page polls the newest deliveries while the log is open. */
  #keepFresh(webhook) {
    // The log may have been closed and opened again before its first answer.
    clearTimeout(this.#timer);
    this.#timer = setTimeout(async () => {
      if (!document.hidden) await this.#read(null, true);
      if (this.#webhook === webhook) this.#keepFresh(webhook);
    }, refreshPause);
  }

  async #read(cursor, isAgain = false) {
    const [webhook, state] = [this.#webhook, byID("deliveries-state").value];
    try {
      const page = await get(query(logOf(webhook), { limit: pageSize, cursor, state }));
      if (this.#webhook !== webhook || byID("deliveries-state").value !== state) return;
      byID("deliveries-error").hidden = true;
      keepFocus(this.#dialog, [byID("deliveries-heading")], () => {
        this.#show(page.deliveries);
        if (!isAgain) this.#showMore(page.next_cursor);
      });
    } catch (error) {
      this.#complain(error);
    }
  }

  #show(deliveries) {
    if (deliveries.length > 0) this.#list.querySelector(".empty")?.remove();
    for (const delivery of deliveries) {
      if (!this.#entries.has(delivery.id)) this.#insert(delivery);
      this.#entries.get(delivery.id).show(delivery, this.#entries.get(delivery.blocked_by)?.delivery);
    }
    byID("deliveries-again").hidden = ![...this.#entries.values()].some((entry) => entry.delivery.state === "exhausted");
  }

  /** Inserts an entry; the newest event is first. */
  #insert(delivery) {
    const entry = new DeliveryEntry(delivery, (again) => this.#redeliver(again));
    this.#entries.set(delivery.id, entry);
    const next = [...this.#list.children].find((item) => Number(item.dataset.event) < delivery.event);
    this.#list.insertBefore(entry.root, next ?? null);
  }

  #showMore(cursor) {
    this.#cursor = cursor;
    byID("deliveries-more").hidden = !cursor;
    if (this.#entries.size === 0) this.#list.append(element("li", { class: "empty" }, "There are no deliveries yet."));
  }

  async #redeliver(delivery) {
    try {
      this.#entries.get(delivery.id).show(await post(address("deliveries", delivery.id, "redeliver")));
      announce(`Event ${delivery.event} will be sent again.`);
    } catch (error) {
      this.#complain(error);
    }
  }

  /** Sends everything again that the endpoint never accepted. */
  async #redeliverAll() {
    const webhook = this.#webhook;
    let [cursor, sent] = [null, 0];
    try {
      do {
        const page = await get(query(logOf(webhook), { limit: pageSize, cursor, state: "exhausted" }));
        for (const delivery of page.deliveries) await post(address("deliveries", delivery.id, "redeliver"));
        [cursor, sent] = [page.next_cursor, sent + page.deliveries.length];
      } while (cursor);
      tell(`${counted(sent, "delivery", "deliveries")} will be sent again.`);
    } catch (error) {
      this.#complain(error);
    }
    if (this.#webhook === webhook) await this.#startOver();
  }

  #complain(error) {
    byID("deliveries-error").hidden = false;
    setText(byID("deliveries-error"), sentence(error));
  }
}

function logOf({ session, name }) {
  return address("sessions", session, "webhooks", name, "deliveries");
}

class DeliveryEntry {
  #head = element("strong");
  #state = element("span", { class: "state" });
  #note = element("p", { class: "note" });
  #attempts = element("ol", { class: "attempts" });
  #attemptsShown = 0;
  #sent = element("pre", { tabindex: "0", "aria-label": "The request" });
  #answer = element("pre", { tabindex: "0", "aria-label": "The answer" });

  constructor(delivery, redeliver) {
    const again = element("button", { type: "button", class: "needs-sessions", onclick: () => redeliver(this.delivery) },
      "Resend");
    again.setAttribute("aria-label", `Resend: event ${delivery.event}`);
    this.root = element(
      "li", { class: "delivery", "data-event": String(delivery.event) },
      element("div", { class: "heading-row" }, this.#head, this.#state, again), this.#note, this.#attempts,
      element("details", { ontoggle: (event) => event.target.open && this.#showHeads() },
        element("summary", {}, "Request and answer of the last attempt"),
        element("div", { class: "exchange" }, half("request", this.#sent), half("answer", this.#answer))));
  }

  async #showHeads() {
    try {
      const { sent, answer } = exchangeTexts(await get(address("deliveries", this.delivery.id)));
      setText(this.#sent, sent);
      setText(this.#answer, answer);
    } catch (error) {
      setText(this.#sent, sentence(error));
    }
  }

  /** @param blocker the delivery that holds this one back, if it is shown. */
  show(delivery, blocker) {
    this.delivery = delivery;
    this.root.dataset.state = delivery.state;
    setText(this.#head, `${delivery.type}, event ${delivery.event}`);
    setText(this.#state, deliveryStates[delivery.state]);
    setText(this.#note, nextWords(delivery, blocker));
    this.#attempts.append(...delivery.attempts.slice(this.#attemptsShown).map(attemptItem));
    this.#attemptsShown = delivery.attempts.length;
  }
}

function nextWords({ state, next_attempt_at: next, blocked_by: blockedBy }, blocker) {
  if (state !== "pending") return "";
  if (blockedBy) {
    const earlier = blocker ? `event ${blocker.event} (${blocker.type})` : `delivery ${blockedBy} of an earlier event`;
    return `Waits until ${earlier} is accepted or given up.`;
  }
  const left = secondsUntil(next);
  return left > 1 ? `Next attempt in ${duration(left)}.` : "Next attempt now.";
}

/** What was sent and what came back, as HTTP. */
function exchangeTexts({ attempts, body }) {
  const last = attempts.at(-1);
  if (!last) return { sent: "Nothing was sent yet.", answer: "" };
  if (!last.request) return { sent: "An earlier version of fetchd did not keep it.", answer: "" };
  const fields = (headers) => headers.map(({ name, value }) => `${name}: ${value}`);
  const content = body === null ? "(The event is no longer in the journal.)" : JSON.stringify(body, null, 2);
  const sent = [`POST ${last.request.url}`, ...fields(last.request.headers), "", content];
  const answer = last.status === null ? [last.error] : [last.status, ...fields(last.response_headers ?? []), "", last.response ?? ""];
  return { sent: sent.join("\n"), answer: answer.join("\n") };
}

function half(what, text) {
  const heading = element("h4", {}, what.charAt(0).toUpperCase() + what.slice(1));
  return element("div", {}, heading, text, copyButton(`Copy the ${what}`, what, () => text.textContent));
}

function attemptItem(attempt) {
  const words = `${time(attempt.at)}: ${answerWords(attempt)} (${exactDuration(attempt.latency_seconds)})`;
  if (!attempt.response) return element("li", {}, words);
  const answer = element("pre", { tabindex: "0" }, attempt.response);
  return element("li", {}, element("details", {}, element("summary", {}, words), answer));
}
