// The webhooks of all sessions: the state of each, and the last response of a failing one.

import { address, get, query } from "./api.js";
import { lastAttempt } from "./attempts.js";
import { coalesced } from "./coalesce.js";
import { arrange, byID, setText } from "./dom.js";
import { counted } from "./format.js";
import { complain, tell } from "./notices.js";
import { healthOf, WebhookRow } from "./webhookrow.js";
import { viewShown } from "./views.js";
import { declareWebhook, editWebhook } from "./webhookform.js";

/** The number of deliveries of each webhook that are searched for its last attempt. */
const lookedAt = 20;
/** The page sends one request for all webhooks, and one for the log of each that has something to tell, a few at a time. */
const atOnce = 4;

export class WebhookList {
  #rows = new Map();
  #sessions = [];
  /** What the page knows of each webhook: {webhook, deliveries, health}. */
  known = [];
  #on;

  /** @param on {openLog(webhook), changed()}. */
  constructor(on) {
    this.#on = on;
    this.refresh = coalesced(() => this.#read(), 1000);
    byID("webhook-new").addEventListener("click", () => this.#declare());
  }

  showSessions(sessions) {
    this.#sessions = sessions;
    this.refresh();
  }

  async edit(webhook) {
    try {
      if (await editWebhook(webhook)) tell(`The webhook ${webhook.name} is changed.`);
    } catch (error) {
      complain(error);
    }
    this.refresh();
  }

  async #declare() {
    await declareWebhook(this.#sessions);
    this.refresh();
  }

  async #read() {
    try {
      this.#show(await each(await readWebhooks(), withDeliveries));
    } catch {
      // The feed reports that the service is unreachable, and refreshes this list later.
    }
  }

  #show(webhooks) {
    this.known = webhooks;
    setText(byID("webhooks-count"), webhooks.length > 0 ? counted(webhooks.length, "webhook") : "");
    const rows = webhooks.map(({ webhook, deliveries, health }) => {
      const key = `${webhook.session}/${webhook.name}`;
      const actions = { openLog: this.#on.openLog, edit: (present) => this.edit(present), changed: () => this.refresh() };
      const row = this.#rows.get(key) ?? new WebhookRow(actions);
      row.show(webhook, deliveries, health);
      return [key, row];
    });
    this.#rows = new Map(rows);
    arrange(byID("webhook-list"), rows.map(([, row]) => row.root));
    byID("webhooks-empty").hidden = rows.length > 0;
    byID("webhook-list").parentElement.hidden = rows.length === 0;
    this.#on.changed();
  }
}

async function readWebhooks() {
  const webhooks = [];
  let cursor = null;
  do {
    const page = await get(query(address("webhooks"), { cursor }));
    webhooks.push(...page.webhooks);
    cursor = page.next_cursor;
  } while (cursor);
  return webhooks;
}

async function withDeliveries(webhook) {
  const { statistics } = webhook;
  // While the view is not shown, an endpoint that has accepted everything has no log that needs to be looked at.
  if (viewShown() !== "webhooks" && statistics.pending === 0 && statistics.accepted === statistics.attempts && webhook.state === "enabled") {
    return { webhook, deliveries: [], health: healthOf(webhook, null) };
  }
  const log = query(address("sessions", webhook.session, "webhooks", webhook.name, "deliveries"), { limit: lookedAt });
  const { deliveries } = await get(log);
  return { webhook, deliveries, health: healthOf(webhook, lastAttempt(deliveries)) };
}

/** Maps with a few requests at a time. */
async function each(items, work) {
  const results = [];
  const queue = [...items.entries()];
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
