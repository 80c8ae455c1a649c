// A webhook as a row: whether its endpoint accepts its deliveries, the last response of a failing one, and its actions.

import { address, post, remove } from "./api.js";
import { answerWords, lastAttempt } from "./attempts.js";
import { element, icon, keepFocus, setAttribute, setText } from "./dom.js";
import { count, counted, duration, exactDuration, percent, secondsUntil, time } from "./format.js";
import { complain, tell } from "./notices.js";
import { ask } from "./question.js";
import { recoverWebhook, rotateSecret } from "./webhookform.js";

export class WebhookRow {
  #webhook = null;
  #name = element("button", { type: "button", class: "link" });
  #about = element("span", { class: "muted limits" });
  #state = element("span", { class: "state" });
  #note = element("span", { class: "note" });
  #success = number("accepted");
  #latency = number("95 % within");
  #pending = number("pending");
  #last = number("last");
  #buttons;

  /** @param on {openLog(webhook), edit(webhook), changed()}. */
  constructor(on) {
    const button = (words, name, press, needs = "needs-sessions") => element(
      "button", { type: "button", class: `icon-button ${needs}`, "data-words": words, onclick: press }, icon(name));
    this.#buttons = {
      log: button("Deliveries", "log", () => on.openLog(this.#webhook), ""),
      test: button("Send a test", "send", () => this.act("test", on)),
      enable: button("Enable", "resume", () => this.act("enable", on)),
      edit: button("Edit", "change", () => on.edit(this.#webhook)),
      recover: button("Replay from", "retry", () => this.#do(() => recoverWebhook(this.#webhook), on)),
      rotate: button("New secret", "key", () => this.#do(() => rotateSecret(this.#webhook), on)),
      remove: button("Delete", "delete", () => this.#do(() => deleteWebhook(this.#webhook), on)),
    };
    this.#name.addEventListener("click", () => on.openLog(this.#webhook));
    this.root = element(
      "tr", { class: "webhook", role: "row" }, element("th", { role: "rowheader", scope: "row" }, this.#name, this.#about),
      element("td", { role: "cell", class: "webhook-state" }, this.#state, this.#note),
      this.#success, this.#latency, this.#pending, this.#last,
      element("td", { role: "cell", class: "actions" }, ...Object.values(this.#buttons)));
  }

  show(webhook, deliveries, state) {
    this.#webhook = webhook;
    const [last, { statistics }] = [lastAttempt(deliveries), webhook];
    this.root.dataset.health = state.kind;
    setText(this.#name, `${webhook.session} / ${webhook.name}`);
    setText(this.#about, aboutWords(webhook));
    setAttribute(this.#about, "title", aboutWords(webhook));
    setText(this.#state, state.words);
    const note = noteWords(webhook, deliveries, state, last);
    setText(this.#note, note);
    setAttribute(this.#note, "title", note || null);
    setText(this.#success, statistics.attempts > 0 ? percent(statistics.success_rate) : "–");
    setText(this.#latency, statistics.attempts > 0 ? exactDuration(statistics.p95_latency_seconds) : "–");
    setText(this.#pending, count(statistics.pending));
    setText(this.#last, last ? time(last.attempt.at) : "–");
    this.#showButtons(webhook, state);
  }

  #showButtons({ session, name }, { kind }) {
    keepFocus(this.root, [this.#buttons.edit], () => {
      this.#buttons.test.hidden = kind === "disabled";
      // For a failing webhook, "enable" sends the pending deliveries at once.
      this.#buttons.enable.hidden = !["failing", "disabled"].includes(kind);
    });
    this.#buttons.enable.dataset.words = kind === "failing" ? "Try now" : "Enable";
    for (const button of Object.values(this.#buttons)) {
      setAttribute(button, "aria-label", `${button.dataset.words}: ${session} / ${name}`);
      setAttribute(button, "title", button.dataset.words);
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

function number(label) {
  return element("td", { role: "cell", class: "number", "data-label": label });
}

function noteWords(webhook, deliveries, { kind }, last) {
  if (!["failing", "disabled"].includes(kind)) return pendingWords(webhook, deliveries);
  const answer = last?.attempt.response ? `“${last.attempt.response}”` : "";
  return [webhook.disabled_reason, lastWords(last), answer, pendingWords(webhook, deliveries)].filter(Boolean).join(" ");
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
