// A webhook as a row: whether its endpoint accepts its deliveries, the last response of a failing one, and its actions.

import { address, post, remove } from "./api.js";
import { answerWords, lastAttempt } from "./attempts.js";
import { ago, count, counted, duration, exactDuration, fullTime, percent, secondsUntil, time } from "./format.js";
import { complain, tell } from "./notices.js";
import { cell, iconButton } from "./parts.js";
import { ask } from "./question.js";
import { h } from "./render.js";
import { showSheet } from "./views.js";
import { recoverWebhook, rotateSecret } from "./webhookform.js";

/** @typedef {import("./attempts.js").Last} Last */
/** @typedef {{ edit: (webhook: Webhook) => void, changed: () => void }} WebhookListener */

/** @param {KnownWebhook} known @param {WebhookListener} on */
export function webhookRow({ webhook, deliveries, health }, on) {
  const { session, name, statistics } = webhook;
  const [last, about] = [lastAttempt(deliveries), aboutWords(webhook)];
  const note = noteWords(webhook, deliveries, health, last);
  const number = (/** @type {string} */ label, /** @type {string} */ text, title = "") => (
    cell({ class: "number", "data-label": label, title: title || null }, text));
  return h(
    "tr", { key: `${session}/${name}`, class: "webhook", role: "row", "data-health": health.kind },
    h("th", { role: "rowheader", scope: "row", class: "name wide" },
      h("button", { type: "button", class: "link", onclick: () => showSheet("webhooks", session, name) }, `${session} / ${name}`), " ",
      h("span", { class: "about", title: about }, about)),
    cell({ class: "wide" }, h("span", { class: "state" }, health.words), h("span", { class: "note", title: note || null }, note)),
    number("accepted", statistics.attempts > 0 ? percent(statistics.success_rate) : "–"),
    number("95 % within", statistics.attempts > 0 ? exactDuration(statistics.p95_latency_seconds) : "–"),
    number("pending", count(statistics.pending)),
    number("last", last ? ago(last.attempt.at) : "–", last ? fullTime(last.attempt.at) : ""),
    cell({ class: "actions" }, ...buttons(webhook, health, on)));
}

/** @param {Webhook} webhook @param {Health} health @param {WebhookListener} on */
function buttons(webhook, { kind }, on) {
  const { session, name } = webhook;
  const button = (/** @type {string} */ words, /** @type {string} */ picture, /** @type {() => any} */ run, needs = "needs-sessions") => (
    iconButton(words, picture, "", {
      key: picture, class: needs, "aria-label": `${words}: ${session} / ${name}`, onclick: () => attempt(run, on) }));
  return [
    button("Deliveries", "log", () => showSheet("webhooks", session, name), ""),
    kind !== "disabled" && button("Send a test", "send", () => actOnWebhook("test", webhook)),
    // For a failing webhook, "enable" sends the pending deliveries at once.
    ["failing", "disabled"].includes(kind)
      && button(kind === "failing" ? "Try now" : "Enable", "resume", () => actOnWebhook("enable", webhook)),
    button("Edit", "change", () => on.edit(webhook)),
    button("Replay from", "retry", () => recoverWebhook(webhook)),
    button("New secret", "key", () => rotateSecret(webhook)),
    button("Delete", "delete", () => deleteWebhook(webhook)),
  ];
}

/** @param {() => any} run @param {WebhookListener} on */
async function attempt(run, on) {
  try {
    await run();
  } catch (error) {
    complain(error);
  }
  on.changed();
}

/** @param {string} action `test` or `enable`. @param {Webhook} webhook */
export async function actOnWebhook(action, { session, name }) {
  try {
    await post(address("sessions", session, "webhooks", name, action));
    tell(action === "test" ? `A test event was queued for ${name}.` : `${name} receives events again.`);
  } catch (error) {
    complain(error);
  }
}

/** @param {Webhook} webhook */
async function deleteWebhook({ session, name }) {
  const words = "fetchd posts nothing more to it. Its deliveries that are pending are cancelled.";
  if (!(await ask(`Delete the webhook ${name} of ${session}?`, words, "Delete"))) return;
  await remove(address("sessions", session, "webhooks", name));
  tell(`The webhook ${name} is deleted.`);
}

/**
 * Whether the endpoint accepts what it gets, by its last attempt.
 * @param {Webhook} webhook @param {Last | null} last
 */
export function healthOf(webhook, last) {
  if (webhook.state === "disabled") return { kind: "disabled", words: "Disabled" };
  if (last && last.attempt.error !== null) return { kind: "failing", words: "Failing", last: lastWords(last) };
  return webhook.statistics.attempts > 0 || last ? { kind: "well", words: "Accepting" } : { kind: "unused", words: "Nothing sent yet" };
}

/** @param {Webhook} webhook @param {Delivery[]} deliveries @param {Health} health @param {Last | null} last */
function noteWords(webhook, deliveries, { kind }, last) {
  if (!["failing", "disabled"].includes(kind)) return pendingWords(webhook, deliveries);
  const answer = last?.attempt.response ? `“${last.attempt.response}”` : "";
  return [webhook.disabled_reason, lastWords(last), answer, pendingWords(webhook, deliveries)].filter(Boolean).join(" ");
}

/** @param {Last | null} last */
function lastWords(last) {
  if (!last) return "";
  const { attempt, delivery } = last;
  return `${time(attempt.at)}, ${delivery.type}: ${answerWords(attempt)} (${exactDuration(attempt.latency_seconds)}).`;
}

/** @param {Webhook} webhook */
function aboutWords(webhook) {
  const headers = webhook.header_names.length > 0 && `sends ${webhook.header_names.join(", ")}`;
  const trust = webhook.tls.ca_file && `trusts ${webhook.tls.ca_file}`;
  const pins = Object.keys(webhook.tls.pinned_public_keys).length > 0 && "pinned key";
  const risk = !webhook.tls.verify && "certificates are not verified";
  return [webhook.url, webhook.events.join(", "), headers, trust, pins, risk].filter(Boolean).join(" · ");
}

/** @param {Webhook} webhook @param {Delivery[]} deliveries */
function pendingWords({ statistics }, deliveries) {
  if (statistics.pending === 0) return "";
  const next = deliveries.map((delivery) => delivery.next_attempt_at).filter(Boolean).sort()[0];
  const oldest = `the oldest since ${time(statistics.oldest_pending_at)}`;
  return `${counted(statistics.pending, "delivery", "deliveries")} pending, ${oldest}${next ? `; next attempt ${nextWords(next)}` : ""}.`;
}

/** @param {string} next */
function nextWords(next) {
  const left = secondsUntil(next);
  return left < 1 ? "now" : `in ${duration(left)}`;
}
