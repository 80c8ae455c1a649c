// The webhooks of all sessions: the state of each, and the last response of a failing one.

import { address, get, post, query } from "./api.js";
import { coalesced } from "./coalesce.js";
import { arrange, byID, element, setAttribute, setText } from "./dom.js";
import { counted, duration, exactDuration, percent, secondsUntil, time } from "./format.js";
import { complain, tell } from "./notices.js";
import { answerWords, lastAttempt } from "./attempts.js";

/** The number of deliveries of each webhook that are searched for its last attempt. */
const lookedAt = 20;
/** The page sends one request for each session. */
const mostSessions = 50;

export class WebhookList {
  #cards = new Map();
  #sessions = [];
  #on;

  /** @param on {openLog(webhook)}. */
  constructor(on) {
    this.#on = on;
    this.refresh = coalesced(() => this.#read(), 1000);
  }

  showSessions(sessions) {
    this.#sessions = sessions.map((session) => session.id);
    this.refresh();
  }

  async #read() {
    try {
      const lists = await Promise.all(this.#sessions.slice(0, mostSessions).map(readWebhooks));
      this.#show(await Promise.all(lists.flat().map(withDeliveries)));
    } catch {
      // The feed reports that the service is unreachable, and refreshes this list later.
    }
  }

  #show(webhooks) {
    const cards = webhooks.map(({ webhook, deliveries }) => {
      const key = `${webhook.session}/${webhook.name}`;
      const card = this.#cards.get(key) ?? new WebhookCard({ ...this.#on, changed: () => this.refresh() });
      card.show(webhook, deliveries);
      return [key, card];
    });
    this.#cards = new Map(cards);
    arrange(byID("webhook-list"), cards.map(([, card]) => card.root));
    byID("webhooks-empty").hidden = cards.length > 0;
  }
}

async function readWebhooks(session) {
  try {
    return (await get(address("sessions", session, "webhooks"))).webhooks;
  } catch (error) {
    // The session was deleted meanwhile.
    if (error.status === 404) return [];
    throw error;
  }
}

async function withDeliveries(webhook) {
  const log = query(address("sessions", webhook.session, "webhooks", webhook.name, "deliveries"), { limit: lookedAt });
  return { webhook, deliveries: (await get(log)).deliveries };
}

class WebhookCard {
  #webhook = null;
  #name = element("h3");
  #state = element("span", { class: "state" });
  #about = element("p", { class: "muted" });
  #statistics = element("p", { class: "muted" });
  #last = element("p", { class: "note" });
  #answer = element("pre", { hidden: true, tabindex: "0", "aria-label": "The endpoint's response" });
  #buttons;

  constructor(on) {
    this.#buttons = {
      log: element("button", { type: "button", onclick: () => on.openLog(this.#webhook) }, "Deliveries"),
      test: element("button", { type: "button", class: "change", onclick: () => this.#act("test", on) }, "Send a test"),
      enable: element("button", { type: "button", class: "change", onclick: () => this.#act("enable", on) }, "Enable"),
    };
    const heading = element("div", { class: "heading-row" }, this.#name, this.#state);
    const actions = element("div", { class: "actions" }, ...Object.values(this.#buttons));
    this.root = element("li", { class: "webhook" }, heading, this.#about, this.#statistics, this.#last, this.#answer, actions);
  }

  show(webhook, deliveries) {
    this.#webhook = webhook;
    const last = lastAttempt(deliveries);
    const state = healthOf(webhook, last);
    this.root.dataset.health = state.kind;
    setText(this.#name, `${webhook.session} / ${webhook.name}`);
    setText(this.#state, state.words);
    setText(this.#about, aboutWords(webhook));
    setText(this.#statistics, statisticsWords(webhook.statistics));
    setText(this.#last, [webhook.disabled_reason, lastWords(last), pendingWords(webhook, deliveries)].filter(Boolean).join(" "));
    this.#answer.hidden = state.kind === "well" || !last?.attempt.response;
    setText(this.#answer, this.#answer.hidden ? "" : last.attempt.response);
    this.#showButtons(webhook, state);
  }

  #showButtons({ session, name }, { kind }) {
    this.#buttons.test.hidden = kind === "disabled";
    // For a failing webhook, "enable" sends the pending deliveries at once.
    this.#buttons.enable.hidden = kind === "well";
    setText(this.#buttons.enable, kind === "failing" ? "Try now" : "Enable");
    for (const button of Object.values(this.#buttons)) {
      setAttribute(button, "aria-label", `${button.textContent}: ${session} / ${name}`);
    }
  }

  async #act(action, on) {
    const { session, name } = this.#webhook;
    try {
      await post(address("sessions", session, "webhooks", name, action));
      tell(action === "test" ? `A test event was queued for ${name}.` : `${name} receives events again.`);
    } catch (error) {
      complain(error);
    }
    on.changed();
  }
}

function healthOf(webhook, last) {
  if (webhook.state === "disabled") return { kind: "disabled", words: "Disabled" };
  if (last && last.attempt.error !== null) return { kind: "failing", words: "Failing" };
  return { kind: "well", words: last ? "Accepting" : "Nothing sent yet" };
}

function lastWords(last) {
  if (!last) return "";
  const { attempt, delivery } = last;
  return `${time(attempt.at)}, ${delivery.type}: ${answerWords(attempt)} (${exactDuration(attempt.latency_seconds)}).`;
}

function aboutWords(webhook) {
  const headers = webhook.header_names.length > 0 && `sends ${webhook.header_names.join(", ")}`;
  const trust = webhook.tls.ca_file && `trusts ${webhook.tls.ca_file}`;
  const pins = Object.keys(webhook.tls.pinned_public_keys).length > 0 && "pinned key";
  const risk = !webhook.tls.verify && "certificates are not verified";
  return [webhook.url, webhook.events.join(", "), headers, trust, pins, risk].filter(Boolean).join(" · ");
}

function statisticsWords({ attempts, success_rate: rate, median_latency_seconds: median, p95_latency_seconds: p95 }) {
  if (attempts === 0) return "No attempts in the last 24 hours.";
  return `${counted(attempts, "attempt")} in the last 24 hours: ${percent(rate)} accepted, ` +
    `half within ${exactDuration(median)}, 95% within ${exactDuration(p95)}.`;
}

function pendingWords({ statistics }, deliveries) {
  if (statistics.pending === 0) return "";
  const next = deliveries.map((delivery) => delivery.next_attempt_at).filter(Boolean).sort()[0];
  const oldest = `the oldest since ${time(statistics.oldest_pending_at)}`;
  return `${counted(statistics.pending, "delivery", "deliveries")} pending, ${oldest}${next ? `; next attempt ${nextWords(next)}` : ""}.`;
}

function nextWords(next) {
  const left = secondsUntil(next);
  return left < 1 ? "now" : `in ${duration(left)}`;
}
