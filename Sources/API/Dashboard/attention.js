// What needs a person: expired links, credentials, a full disk, servers that refuse requests, failing webhooks, finishes that no
// program has acknowledged, and failed downloads. Each entry says what is wrong and has the action that ends it.

import { arrange, byID, element, setAttribute, setText } from "./dom.js";
import { bytes, count, counted, hostOf, jobName, secondsUntil, time } from "./format.js";
import { openHost, pausedHosts, pauseTitle } from "./hosts.js";
import { announce } from "./notices.js";
import { lack } from "./actions.js";
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

export class Attention {
  #entries = new Map();
  #isOpen = false;
  #on;

  /**
   * @param on {open(job), credentials(jobs, place), act(action, jobs), narrow(values), editSession(id, focus),
   *   webhook(action, webhook), acknowledge(sessions), changed(), showList(), showSessions()}: `showList` returns whether another view was shown.
   */
  constructor(on) {
    this.#on = on;
    const focus = () => byID("attention-heading").focus();
    byID("attention-more").addEventListener("click", () => {
      this.#isOpen = true;
      this.#showFirst();
      [...this.#entries.values()][mostShown]?.root.querySelector("button")?.focus();
    });
    byID("attention-link").addEventListener("click", () => {
      // Another view takes the focus when its event comes.
      if (on.showList()) window.addEventListener("hashchange", focus, { once: true });
      else focus();
    });
  }

  /** @param state {jobs, sessions, webhooks, disk}: `webhooks` as `WebhookList` knows them, `disk` of the statistics. */
  show(state) {
    const wanted = [
      ...this.#ofDisk(state), ...this.#ofHosts(), ...this.#ofJobs(state.jobs), ...this.#ofWebhooks(state.webhooks),
      ...this.#ofSessions(state), ...this.#ofFailures(state.jobs),
    ];
    const before = this.#entries;
    this.#entries = new Map(wanted.map((item) => [item.key, before.get(item.key) ?? new Entry()]));
    for (const item of wanted) this.#entries.get(item.key).show(item);
    byID("attention").hidden = wanted.length === 0;
    arrange(byID("attention-items"), [...this.#entries.values()].map((entry) => entry.root));
    this.#showFirst();
    setText(byID("attention-heading"), `Needs you (${count(wanted.length)})`);
    byID("attention-link").hidden = wanted.length === 0;
    setText(byID("attention-link"), `${count(wanted.length)} ${wanted.length === 1 ? "needs" : "need"} you`);
    const fresh = wanted.filter((item) => !before.has(item.key));
    if (fresh.length > 0) announce(`Needs you: ${fresh.map((item) => item.title).join(". ")}.`);
  }

  /** The first entries; all of them after *more* was pressed. */
  #showFirst() {
    const entries = [...this.#entries.values()];
    const left = this.#isOpen ? 0 : Math.max(0, entries.length - mostShown);
    entries.forEach((entry, index) => (entry.root.hidden = index >= entries.length - left));
    byID("attention-more").hidden = left === 0;
    setText(byID("attention-more"), `${count(left)} more`);
  }

  // MARK: Disk

  #ofDisk({ jobs, disk }) {
    const items = [];
    const waiting = (reason) => jobs.filter((job) => job.state === "waiting" && job.reason === reason);
    const [space, storage] = [waiting("space"), waiting("storage")];
    const large = disk ? space.filter((job) => needOf(job) > disk.free_bytes && disk.free_bytes >= leastFree) : [];
    const cramped = space.filter((job) => !large.includes(job));
    if (large.length > 0) {
      items.push(this.#item("large", "bad", large.length === 1 ? `${jobName(large[0])} is larger than the free space`
        : `${counted(large.length, "download is", "downloads are")} larger than the free space`,
      `${bytes(disk.free_bytes)} are free, and ${large.length === 1 ? "it needs" : "the largest needs"} ${
        bytes(Math.max(...large.map(needOf)))}. Free more space, or remove ${large.length === 1 ? "it" : "them"}.`,
      [["Try now", () => this.#on.act("resume", large), "jobs"], this.#showing({ state: "waiting" })]));
    }
    const free = disk ? `${bytes(disk.free_bytes)} of ${bytes(disk.total_bytes)} are free. ` : "";
    if (cramped.length > 0) {
      items.push(this.#item("space", "bad", `The disk is full: ${counted(cramped.length, "download waits", "downloads wait")}`,
        `${free}Free some space on the service's disk. fetchd tries again every 30 seconds.`,
        [["Try now", () => this.#on.act("resume", cramped), "jobs"], this.#showing({ state: "waiting" })]));
    } else if (disk && disk.free_bytes < leastFree && disk.free_bytes / disk.total_bytes < leastShare) {
      items.push(this.#item("nearly-full", "warn", "The disk is nearly full", `${free}Downloads wait when no space is left.`, []));
    }
    if (storage.length > 0) {
      items.push(this.#item("storage", "bad",
        `The downloads folder cannot be used: ${counted(storage.length, "download waits", "downloads wait")}`,
        `${storage[0].cause?.message ?? ""} Check the service's disk and the permissions of the folder.`.trim(),
        [["Try now", () => this.#on.act("resume", storage), "jobs"], this.#showing({ state: "waiting" })]));
    }
    return items;
  }

  // MARK: Servers

  #ofHosts() {
    const paused = pausedHosts();
    const items = paused.slice(0, mostHosts).map((host) => this.#item(`host-${host.host}`, "warn", pauseTitle(host),
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
      items.push(this.#item("hosts", "warn", `${counted(left.length, "more server")} paused requests: ${
        counted(waiting, "download waits", "downloads wait")}`,
      "fetchd asks each of them again at the time that it has named.", [this.#showing({ state: "queued" })]));
    }
    return items;
  }

  // MARK: Downloads

  #ofJobs(jobs) {
    const lacking = jobs.filter((job) => lack(job));
    const links = lacking.filter((job) => lack(job) === "url");
    const items = links.slice(0, mostLinks).map((job) => this.#item(
      `link-${job.id}`, "warn", ...linkWords(job),
      [["New link…", () => this.#on.open(job), "jobs"]]));
    if (links.length > mostLinks) {
      items.push(this.#item("links", "warn", `${count(links.length - mostLinks)} more downloads need a new link`,
        "Each of them continues with a new link.", [this.#showing({ state: links.at(-1).state })]));
    }
    for (const [place, group] of grouped(lacking.filter((job) => lack(job) === "credentials"), placeOf)) {
      items.push(this.#item(`credentials-${place}`, "warn",
        `${place} requires credentials for ${counted(group.length, "download")}`,
        (group[0].cause ?? group[0].failure)?.message ?? "", [
          ["Enter credentials…", () => this.#on.credentials(group, place), "jobs"],
          ...(group.length === 1 ? [["Details", () => this.#on.open(group[0])]] : []),
        ]));
    }
    const proxied = jobs.filter((job) => (job.cause ?? job.failure)?.code === "proxy_credentials_required");
    for (const [session, group] of grouped(proxied, (job) => job.session)) {
      const failed = group.filter((job) => job.state === "failed");
      items.push(this.#item(`proxy-${session}`, "warn",
        `The proxy of the session ${session} requires credentials for ${counted(group.length, "download")}`,
        (group[0].cause ?? group[0].failure).message, [
          ["Edit the proxy…", () => this.#on.editSession(session, "proxy"), "sessions"],
          ...(failed.length > 0 ? [["Retry", () => this.#on.act("retry", failed), "jobs"]] : []),
        ]));
    }
    return items;
  }

  #ofFailures(jobs) {
    const failed = jobs.filter((job) => job.state === "failed" && !lack(job) && job.failure?.code !== "proxy_credentials_required");
    if (failed.length === 0) return [];
    const last = failed.reduce((one, other) => (one.finished_at > other.finished_at ? one : other));
    const words = failureSentence(last.failure);
    return [this.#item("failed", "bad", `${counted(failed.length, "download")} failed`,
      failed.length === 1 ? `${jobName(last)}: ${words}` : `The last one, ${jobName(last)}: ${words}`, [
        [failed.length === 1 ? "Retry" : "Retry all", () => this.#on.act("retry", failed), "jobs"],
          this.#showing({ state: "failed" }),
      ])];
  }

  // MARK: Webhooks and sessions

  #ofWebhooks(webhooks) {
    return webhooks.filter(({ health }) => ["disabled", "failing"].includes(health.kind)).map(({ webhook, health }) => {
      const { session, name, disabled_reason: reason, statistics } = webhook;
      const isDisabled = health.kind === "disabled";
      const pending = statistics.pending > 0 ? ` ${counted(statistics.pending, "delivery is", "deliveries are")} pending.` : "";
      return this.#item(`webhook-${session}/${name}`, isDisabled ? "bad" : "warn",
        `The webhook ${name} of the session ${session} ${isDisabled ? "is disabled" : "does not accept its deliveries"}`,
        isDisabled ? `${reason} When the endpoint works again, enable it, and send the missed events again.`
          : `${health.last}${pending}`, [
          isDisabled ? ["Enable", () => this.#on.webhook("enable", webhook), "sessions"] : ["Try now",
            () => this.#on.webhook("enable", webhook), "sessions"],
          ...(isDisabled ? [] : [["Send a test", () => this.#on.webhook("test", webhook), "sessions"]]),
          ["Edit…", () => this.#on.webhook("edit", webhook), "sessions"], ["Deliveries", () => this.#on.webhook("log", webhook)],
        ]);
    });
  }

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
    return [this.#item("unacknowledged", "warn", title,
      `The downloads are done, since ${time(oldest)}. Check the program that takes the files, or acknowledge it yourself.`, [
        [late.length === 1 ? "Acknowledge" : "Acknowledge all", () => this.#on.acknowledge(late), "sessions"],
        late.length === 1 ? this.#showing({ session: late[0].id }) : ["Show", () => this.#on.showSessions()],
      ])];
  }

  #showing(values) {
    return ["Show", () => this.#on.narrow({ session: "", state: "", tag: "", text: "", ...values })];
  }

  /** @param actions [[words, press, scope]]. */
  #item(key, kind, title, detail, actions) {
    return { key, kind, title, detail, actions };
  }
}

function grouped(items, keyOf) {
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

/** The bytes that a download still needs on the disk. */
function needOf({ progress: { bytes_expected: expected, bytes_durable: durable } }) {
  return expected == null ? 0 : expected - durable;
}

/** A link that never worked has not expired. */
function linkWords(job) {
  const kept = job.progress.bytes_durable;
  if (kept > 0) {
    const words = `${bytes(kept)} are kept. With a new link, the download continues from there.`;
    return [`The link of ${jobName(job)} has expired`, words];
  }
  const said = (job.cause ?? job.failure)?.message ?? "";
  return [`The server has no file at the address of ${jobName(job)}`, `${said} Enter another link, or remove the download.`.trim()];
}

/** What the credentials are for: a host, and the realm that it names. */
function placeOf(job) {
  return `${hostOf(job.url)}${job.challenge?.realm ? ` (“${job.challenge.realm}”)` : ""}`;
}

/** An entry is created once and then updated in place, so that its buttons keep the focus. */
class Entry {
  #title = element("h3");
  #detail = element("p");
  #actions = element("div", { class: "actions" });
  #buttons = [];
  #presses = [];
  root = element("li", { class: "attention-item" }, element("div", {}, this.#title, this.#detail), this.#actions);

  show({ kind, title, detail, actions }) {
    this.root.dataset.kind = kind;
    setText(this.#title, title);
    setText(this.#detail, detail);
    this.#detail.title = detail;
    this.#presses = actions.map(([, press]) => press);
    const buttons = actions.map(([text, , scope], index) => {
      const button = this.#button(index);
      setText(button, text);
      setAttribute(button, "class", scope ? `needs-${scope}` : null);
      setAttribute(button, "aria-label", `${text.replace("…", "")}: ${title}`);
      return button;
    });
    arrange(this.#actions, buttons);
  }

  #button(index) {
    return (this.#buttons[index] ??= element("button", { type: "button", onclick: () => this.#presses[index]() }));
  }
}
