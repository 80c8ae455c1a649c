// The webhooks of all sessions: the state of each, and the last response of a failing one.

import { address, get, query } from "./api.js";
import { lastAttempt } from "./attempts.js";
import { coalesced } from "./coalesce.js";
import { byID, setText } from "./dom.js";
import { counted } from "./format.js";
import { complain, tell } from "./notices.js";
import { healthOf, webhookRow } from "./webhookrow.js";
import { render } from "./render.js";
import { viewShown } from "./views.js";
import { declareWebhook, editWebhook } from "./webhookform.js";

/** The number of deliveries of each webhook that are searched for its last attempt. */
const lookedAt = 20;
/** The page sends one request for all webhooks, and one for the log of each that has something to tell, a few at a time. */
const atOnce = 4;

export class WebhookList {
  /** @type {Session[]} */
  #sessions = [];
  /** @type {KnownWebhook[]} */
  known = [];
  #on;

  /** @param {{ changed: () => void }} on */
  constructor(on) {
    this.#on = on;
    this.refresh = coalesced(() => this.#read(), 1000);
    byID("webhook-new").addEventListener("click", () => this.declare());
  }

  /** @param {Session[]} sessions */
  showSessions(sessions) {
    this.#sessions = sessions;
    this.refresh();
  }

  /** @param {Webhook} webhook */
  async edit(webhook) {
    try {
      if (await editWebhook(webhook)) tell(`The webhook ${webhook.name} is changed.`);
    } catch (error) {
      complain(error);
    }
    this.refresh();
  }

  /** @param {string} [session] the one that is chosen first. */
  async declare(session) {
    await declareWebhook(this.#sessions, session);
    this.refresh();
  }

  async #read() {
    try {
      this.#show(await each(await readWebhooks(), withDeliveries));
    } catch {
      // The feed reports that the service is unreachable, and refreshes this list later.
    }
  }

  /** @param {KnownWebhook[]} webhooks */
  #show(webhooks) {
    this.known = webhooks;
    setText(byID("webhooks-count"), webhooks.length > 0 ? counted(webhooks.length, "webhook") : "");
    byID("webhooks-empty").hidden = webhooks.length > 0;
    byID("webhooks-table").hidden = webhooks.length === 0;
    const on = { edit: (/** @type {Webhook} */ webhook) => this.edit(webhook), changed: () => this.refresh() };
    render(byID("webhook-list"), webhooks.map((known) => webhookRow(known, on)));
    this.#on.changed();
  }
}

async function readWebhooks() {
  /** @type {Webhook[]} */
  const webhooks = [];
  /** @type {string | null} */
  let cursor = null;
  do {
    /** @type {{ webhooks: Webhook[], next_cursor: string | null }} */
    const page = await get(query(address("webhooks"), { cursor }));
    webhooks.push(...page.webhooks);
    cursor = page.next_cursor;
  } while (cursor);
  return webhooks;
}

/** @param {Webhook} webhook */
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

/**
 * Maps with a few requests at a time.
 * @param {any[]} items @param {(item: any) => Promise<any>} work
 */
async function each(items, work) {
  /** @type {any[]} */
  const results = [];
  const queue = [...items.entries()];
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) results[next[0]] = await work(next[1]);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
