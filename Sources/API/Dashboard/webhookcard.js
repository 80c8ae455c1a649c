// A webhook as a card: whether its endpoint accepts its deliveries, the last response of a failing one, and its actions.

import { address, post, remove } from "./api.js";
import { answerWords, lastAttempt, statisticsWords } from "./attempts.js";
import { element, keepFocus, setAttribute, setText } from "./dom.js";
import { counted, duration, exactDuration, secondsUntil, time } from "./format.js";
import { complain, tell } from "./notices.js";
import { ask } from "./question.js";
import { recoverWebhook, rotateSecret } from "./webhookform.js";

export class WebhookCard {
  #webhook = null;
  #name = element("h3");
  #state = element("span", { class: "state" });
  #about = element("p", { class: "muted" });
  #statistics = element("p", { class: "muted" });
  #last = element("p", { class: "note" });
  #answer = element("pre", { hidden: true, tabindex: "0", "aria-label": "The endpoint's response" });
  #buttons;

  constructor(on) {
    const button = (words, press, needs = "needs-sessions") =>
      element("button", { type: "button", class: needs, onclick: press }, words);
    this.#buttons = {
      log: button("Deliveries", () => on.openLog(this.#webhook), null),
      test: button("Send a test", () => this.act("test", on)),
      enable: button("Enable", () => this.act("enable", on)),
      edit: button("Edit…", () => on.edit(this.#webhook)),
      recover: button("Replay from…", () => this.#do(() => recoverWebhook(this.#webhook), on)),
      rotate: button("New secret…", () => this.#do(() => rotateSecret(this.#webhook), on)),
      remove: button("Delete…", () => this.#do(() => deleteWebhook(this.#webhook), on)),
    };
    const heading = element("div", { class: "heading-row" }, this.#name, this.#state);
    const actions = element("div", { class: "actions" }, ...Object.values(this.#buttons));
    this.root = element("li", { class: "webhook" }, heading, this.#about, this.#statistics, this.#last, this.#answer, actions);
  }

  show(webhook, deliveries, state) {
    this.#webhook = webhook;
    const last = lastAttempt(deliveries);
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
    keepFocus(this.root, [this.#buttons.edit], () => {
      this.#buttons.test.hidden = kind === "disabled";
      // For a failing webhook, "enable" sends the pending deliveries at once.
      this.#buttons.enable.hidden = kind === "well";
    });
    setText(this.#buttons.enable, kind === "failing" ? "Try now" : "Enable");
    for (const button of Object.values(this.#buttons)) {
      setAttribute(button, "aria-label", `${button.textContent.replace("…", "")}: ${session} / ${name}`);
    }
  }

  async act(action, on) {
    await actOnWebhook(action, this.#webhook);
    on.changed();
  }

  async #do(work, on) {
    try {
      await work();
    } catch (error) {
      complain(error);
    }
    on.changed();
  }
}

/** @param action `test` or `enable`. */
export async function actOnWebhook(action, { session, name }) {
  try {
    await post(address("sessions", session, "webhooks", name, action));
    tell(action === "test" ? `A test event was queued for ${name}.` : `${name} receives events again.`);
  } catch (error) {
    complain(error);
  }
}

async function deleteWebhook({ session, name }) {
  const words = "fetchd posts nothing more to it. Its deliveries that are pending are cancelled.";
  if (!(await ask(`Delete the webhook ${name} of ${session}?`, words, "Delete"))) return;
  await remove(address("sessions", session, "webhooks", name));
  tell(`The webhook ${name} is deleted.`);
}

/** Whether the endpoint accepts what it gets, by its last attempt. */
export function healthOf(webhook, last) {
  if (webhook.state === "disabled") return { kind: "disabled", words: "Disabled" };
  if (last && last.attempt.error !== null) return { kind: "failing", words: "Failing", last: lastWords(last) };
  return webhook.statistics.attempts > 0 || last ? { kind: "well", words: "Accepting" } : { kind: "unused", words: "Nothing sent yet" };
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
