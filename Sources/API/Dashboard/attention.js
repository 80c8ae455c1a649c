// What needs a person: expired links, credentials, a full disk, servers that refuse requests, failing webhooks, finishes that no
// program has acknowledged, and failed downloads. Each entry says what is wrong and has the action that ends it.

import { byID, setText } from "./dom.js";
import { bytes, count, counted, hostOf, jobName, secondsUntil, time } from "./format.js";
import { openHost, pausedHosts, pauseTitle } from "./hosts.js";
import { announce } from "./notices.js";
import { lack } from "./actions.js";
import { h, render } from "./render.js";
import { failureSentence } from "./words.js";

/** The number of downloads with an entry of their own. */
const mostLinks = 5;
const mostHosts = 5;
/** The number of entries before *more* is pressed. */
const mostShown = 3;
/** Seconds. Without a webhook, a finish is normal for this time: its consumer may look now and then. */
const patience = 3600;
/** The disk is said to be nearly full below these free bytes and below this share. */
const leastFree = 2 * 1024 ** 3;
const leastShare = 0.05;

/** @typedef {[words: string, press: () => void, scope?: string]} Action */
/** @typedef {{ key: string, kind: "bad" | "warn", title: string, detail: string, actions: Action[] }} Item */

/**
 * @typedef {object} AttentionListener
 * @property {(job: Job) => void} open
 * @property {(jobs: Job[], place: string) => void} credentials
 * @property {(action: string, jobs: Job[]) => void} act
 * @property {(values: Partial<Filters>) => void} narrow
 * @property {(id: string, focus: string) => void} editSession
 * @property {(action: string, webhook: Webhook) => void} webhook
 * @property {(sessions: Session[]) => void} acknowledge
 * @property {() => void} changed
 * @property {() => boolean} showList returns whether another view was shown.
 * @property {() => void} showSessions
 */

/** @typedef {{ jobs: Job[], sessions: Session[], webhooks: KnownWebhook[], disk: Disk | null }} State */

export class Attention {
  /** @type {Item[]} */
  #items = [];
  #isOpen = false;
  #on;

  /** @param {AttentionListener} on */
  constructor(on) {
    this.#on = on;
    const focus = () => byID("attention-heading").focus();
    byID("attention-more").addEventListener("click", () => {
      this.#isOpen = true;
      this.#showItems();
      /** @type {HTMLElement | null} */ (byID("attention-items").children[mostShown]?.querySelector("button"))?.focus();
    });
    byID("attention-link").addEventListener("click", () => {
      // Another view takes the focus when its event comes.
      if (on.showList()) window.addEventListener("hashchange", focus, { once: true });
      else focus();
    });
  }

  /** @param {State} state */
  show(state) {
    const wanted = [
      ...this.#ofDisk(state), ...this.#ofHosts(), ...this.#ofJobs(state.jobs), ...this.#ofWebhooks(state.webhooks),
      ...this.#ofSessions(state), ...this.#ofFailures(state.jobs),
    ];
    const before = new Set(this.#items.map((item) => item.key));
    this.#items = wanted;
    byID("attention").hidden = wanted.length === 0;
    this.#showItems();
    setText(byID("attention-heading"), `Needs you (${count(wanted.length)})`);
    byID("attention-link").hidden = wanted.length === 0;
    setText(byID("attention-link"), `${count(wanted.length)} ${wanted.length === 1 ? "needs" : "need"} you`);
    const fresh = wanted.filter((item) => !before.has(item.key));
    if (fresh.length > 0) announce(`Needs you: ${fresh.map((item) => item.title).join(". ")}.`);
  }

  /** The first items; all of them after *more* was pressed. */
  #showItems() {
    const shown = this.#isOpen ? this.#items : this.#items.slice(0, mostShown);
    render(byID("attention-items"), shown.map(entry));
    const left = this.#items.length - shown.length;
    byID("attention-more").hidden = left === 0;
    setText(byID("attention-more"), `${count(left)} more`);
  }

  // MARK: Disk

  /** @param {State} state @returns {Item[]} */
  #ofDisk({ jobs, disk }) {
    /** @type {Item[]} */
    const items = [];
    const waiting = (/** @type {string} */ reason) => jobs.filter((job) => job.state === "waiting" && job.reason === reason);
    const [space, storage] = [waiting("space"), waiting("storage")];
    // With space left, the disk is not full: such a download is too large for it, beside what runs.
    const large = disk && disk.free_bytes >= leastFree ? space : [];
    const cramped = large.length > 0 ? [] : space;
    if (disk && large.length > 0) {
      const [title, it, them] = large.length === 1 ? [`${jobName(large[0])} does not fit in the free space`, "it", "it"]
        : [`${counted(large.length, "download does", "downloads do")} not fit in the free space`, "each of them", "some of them"];
      items.push(item("large", "bad", title,
        `${bytes(disk.free_bytes)} are free: less than ${it} and the running downloads need. Free more space, or remove ${them}.`,
        [["Try now", () => this.#on.act("resume", large), "jobs"], this.#showing({ state: "waiting" })]));
    }
    const free = disk ? `${bytes(disk.free_bytes)} of ${bytes(disk.total_bytes)} are free. ` : "";
    if (cramped.length > 0) {
      items.push(item("space", "bad", `The disk is full: ${counted(cramped.length, "download waits", "downloads wait")}`,
        `${free}Free some space on the service's disk. fetchd tries again every 30 seconds.`,
        [["Try now", () => this.#on.act("resume", cramped), "jobs"], this.#showing({ state: "waiting" })]));
    } else if (disk && disk.free_bytes < leastFree && disk.free_bytes / disk.total_bytes < leastShare) {
      items.push(item("nearly-full", "warn", "The disk is nearly full", `${free}Downloads wait when no space is left.`, []));
    }
    if (storage.length > 0) {
      items.push(item("storage", "bad",
        `The downloads folder cannot be used: ${counted(storage.length, "download waits", "downloads wait")}`,
        `${storage[0].cause?.message ?? ""} Check the service's disk and the permissions of the folder.`.trim(),
        [["Try now", () => this.#on.act("resume", storage), "jobs"], this.#showing({ state: "waiting" })]));
    }
    return items;
  }

  // MARK: Servers

  /** @returns {Item[]} */
  #ofHosts() {
    const paused = pausedHosts();
    const items = paused.slice(0, mostHosts).map((host) => item(`host-${host.host}`, "warn", pauseTitle(host),
      `${host.why.charAt(0).toUpperCase()}${host.why.slice(1)}. fetchd asks it again at that time.`, [
        ["Try now", async () => {
          await openHost(host);
          this.#on.changed();
        }, "admin"],
        this.#showing({ state: "queued", text: host.host.replace(/:(80|443)$/, "") }),
      ]));
    const left = paused.slice(mostHosts);
    if (left.length > 0) {
      const waiting = left.reduce((sum, host) => sum + host.queued, 0);
      items.push(item("hosts", "warn", `${counted(left.length, "more server")} paused requests: ${
        counted(waiting, "download waits", "downloads wait")}`,
      "fetchd asks each of them again at the time that it has named.", [this.#showing({ state: "queued" })]));
    }
    return items;
  }

  // MARK: Downloads

  /** @param {Job[]} jobs */
  #ofJobs(jobs) {
    const lacking = jobs.filter((job) => lack(job));
    const links = lacking.filter((job) => lack(job) === "url");
    const items = links.slice(0, mostLinks).map((job) => {
      const { title, detail } = linkWords(job);
      return item(`link-${job.id}`, "warn", title, detail, [["New link…", () => this.#on.open(job), "jobs"]]);
    });
    if (links.length > mostLinks) {
      items.push(item("links", "warn", `${count(links.length - mostLinks)} more downloads need a new link`,
        "Each of them continues with a new link.", [this.#showing({ state: links[mostLinks].state })]));
    }
    for (const [place, group] of grouped(lacking.filter((job) => lack(job) === "credentials"), placeOf)) {
      items.push(item(`credentials-${place}`, "warn",
        `${place} requires credentials for ${counted(group.length, "download")}`,
        (group[0].cause ?? group[0].failure)?.message ?? "", [
          ["Enter credentials…", () => this.#on.credentials(group, place), "jobs"],
          group.length === 1 ? ["Details", () => this.#on.open(group[0])] : null,
        ]));
    }
    const proxied = jobs.filter((job) => (job.cause ?? job.failure)?.code === "proxy_credentials_required");
    for (const [session, group] of grouped(proxied, (/** @type {Job} */ job) => job.session)) {
      const failed = group.filter((/** @type {Job} */ job) => job.state === "failed");
      items.push(item(`proxy-${session}`, "warn",
        `The proxy of the session ${session} requires credentials for ${counted(group.length, "download")}`,
        (group[0].cause ?? group[0].failure).message, [
          ["Edit the proxy…", () => this.#on.editSession(session, "proxy"), "sessions"],
          failed.length > 0 ? ["Retry", () => this.#on.act("retry", failed), "jobs"] : null,
        ]));
    }
    return items;
  }

  /** @param {Job[]} jobs */
  #ofFailures(jobs) {
    const failed = jobs.filter((job) => job.state === "failed" && !lack(job) && job.failure?.code !== "proxy_credentials_required");
    if (failed.length === 0) return [];
    const last = failed.reduce((one, other) => (one.finished_at > other.finished_at ? one : other));
    const words = failureSentence(last.failure);
    return [item("failed", "bad", `${counted(failed.length, "download")} failed`,
      failed.length === 1 ? `${jobName(last)}: ${words}` : `The last one, ${jobName(last)}: ${words}`, [
        [failed.length === 1 ? "Retry" : "Retry all", () => this.#on.act("retry", failed), "jobs"],
          this.#showing({ state: "failed" }),
      ])];
  }

  // MARK: Webhooks and sessions

  /** @param {KnownWebhook[]} webhooks */
  #ofWebhooks(webhooks) {
    return webhooks.filter(({ health }) => ["disabled", "failing"].includes(health.kind)).map(({ webhook, health }) => {
      const { session, name, disabled_reason: reason, statistics } = webhook;
      const isDisabled = health.kind === "disabled";
      const pending = statistics.pending > 0 ? ` ${counted(statistics.pending, "delivery is", "deliveries are")} pending.` : "";
      return item(`webhook-${session}/${name}`, isDisabled ? "bad" : "warn",
        `The webhook ${name} of the session ${session} ${isDisabled ? "is disabled" : "does not accept its deliveries"}`,
        isDisabled ? `${reason} When the endpoint works again, enable it, and send the missed events again.`
          : `${health.last}${pending}`, [
          [isDisabled ? "Enable" : "Try now", () => this.#on.webhook("enable", webhook), "sessions"],
          isDisabled ? null : ["Send a test", () => this.#on.webhook("test", webhook), "sessions"],
          ["Edit…", () => this.#on.webhook("edit", webhook), "sessions"], ["Deliveries", () => this.#on.webhook("log", webhook)],
        ]);
    });
  }

  /** @param {State} state @returns {Item[]} */
  #ofSessions({ sessions, webhooks }) {
    const hasWebhook = new Set(webhooks.map(({ webhook }) => webhook.session));
    const late = sessions.filter((session) => {
      const since = session.unacknowledged_since;
      return since !== null && secondsUntil(since) < (hasWebhook.has(session.id) ? -60 : -patience);
    });
    if (late.length === 0) return [];
    const oldest = late.map((session) => session.unacknowledged_since).sort()[0];
    const title = late.length === 1
      ? `No program has acknowledged the finish of the session ${late[0].id}`
      : `No program has acknowledged the finish of ${count(late.length)} sessions`;
    return [item("unacknowledged", "warn", title,
      `The downloads are done, since ${time(oldest)}. Check the program that takes the files, or acknowledge it yourself.`, [
        [late.length === 1 ? "Acknowledge" : "Acknowledge all", () => this.#on.acknowledge(late), "sessions"],
        late.length === 1 ? this.#showing({ session: late[0].id }) : ["Show", () => this.#on.showSessions()],
      ])];
  }

  /** @param {Partial<Filters>} values @returns {Action} */
  #showing(values) {
    return ["Show", () => this.#on.narrow({ session: "", state: "", tag: "", text: "", ...values })];
  }

}

/**
 * @param {string} key @param {"bad" | "warn"} kind @param {string} title @param {string} detail
 * @param {(Action | null)[]} actions
 * @returns {Item}
 */
function item(key, kind, title, detail, actions) {
  return { key, kind, title, detail, actions: actions.flatMap((action) => (action ? [action] : [])) };
}

/** @param {Item} item */
function entry({ key, kind, title, detail, actions }) {
  return h("li", { key, class: "attention-item", "data-kind": kind },
    h("div", { class: "attention-words" }, h("h3", {}, title), " ", h("p", { title: detail }, detail)),
    h("div", { class: "attention-actions" }, actions.map(([words, press, scope]) => h(
      "button", { key: words, type: "button", class: scope ? `needs-${scope}` : null, onclick: press,
        "aria-label": `${words.replace("…", "")}: ${title}` }, words))));
}

/** @param {Job[]} items @param {(job: Job) => string} keyOf */
function grouped(items, keyOf) {
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

/**
 * A link that never worked has not expired.
 * @param {Job} job
 */
function linkWords(job) {
  const kept = job.progress.bytes_durable;
  if (kept > 0) {
    const words = `${bytes(kept)} are kept. With a new link, the download continues from there.`;
    return { title: `The link of ${jobName(job)} has expired`, detail: words };
  }
  const said = (job.cause ?? job.failure)?.message ?? "";
  return {
    title: `The server has no file at the address of ${jobName(job)}`, detail: `${said} Enter another link, or remove the download.`.trim(),
  };
}

/**
 * What the credentials are for: a host, and the realm that it names.
 * @param {Job} job
 */
function placeOf(job) {
  return `${hostOf(job.url)}${job.challenge?.realm ? ` (“${job.challenge.realm}”)` : ""}`;
}
