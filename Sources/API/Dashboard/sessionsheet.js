// The sheet of a session: its batch and actions, and as parts its downloads, its configuration, its webhooks, and the JSON of the API.

import { FetchdError } from "./client.js";
import { address, get } from "./api.js";
import { count, duration, fullTime } from "./format.js";
import { locationWords } from "./locations.js";
import { complain, copyButton } from "./notices.js";
import { factList } from "./parts.js";
import { h, icon } from "./render.js";
import { sessionActions, sessionProgress } from "./sessionrow.js";
import { closeSheet, fillSheet, focusSheet, jsonPart, tabs, takeSheet } from "./sheet.js";
import { rateText } from "./values.js";
import { leaveSheet } from "./views.js";
import { finishWords, stateNames } from "./words.js";

const tabNames = { overview: "Overview", webhooks: "Webhooks", json: "JSON" };

export class SessionSheet {
  kind = "sessions";
  /** @type {Session | null} */
  #session = null;
  #tab = "overview";
  #on;

  /**
   * @param {import("./sessionrow.js").SessionListener & { webhooks: (session: string) => KnownWebhook[], declare: (session: string) => void }} on
   *   `declare` begins a new webhook.
   */
  constructor(on) {
    this.#on = on;
  }

  /** @param {string} id @param {string} tab */
  async show(id, tab) {
    this.#tab = tab in tabNames ? tab : "overview";
    try {
      const session = await get(address("sessions", id));
      const isOther = this.#session?.id !== id;
      takeSheet(this);
      this.#session = session;
      this.#render();
      if (isOther) focusSheet();
    } catch (error) {
      complain(error);
      leaveSheet(this.kind);
    }
  }

  closed() {
    this.#session = null;
  }

  /** The session or one of its webhooks may have changed. */
  async refresh() {
    const id = this.#session?.id;
    if (!id) return;
    try {
      const session = await get(address("sessions", id));
      if (this.#session?.id !== id) return;
      this.#session = session;
      this.#render();
    } catch (error) {
      // Other failures are those of the feed, which reports them.
      if (error instanceof FetchdError && error.status === 404) closeSheet(this);
    }
  }

  #render() {
    const session = this.#session;
    if (!session) return;
    const buttons = sessionActions(session, this.#on).map(({ name, words, picture, label, isOpen, run }) => h(
      "button", { key: name, type: "button", class: "quiet needs-sessions", "aria-label": label, "aria-disabled": isOpen ? null : "true",
        onclick: run },
      icon(picture), h("span", {}, words)));
    fillSheet(
      this, `Session ${session.id}`, h("div", { class: "sheet-actions" }, h("div", {}, buttons)),
      h("p", { class: session.unacknowledged_since ? "attention" : "" }, `${finishWords(session).replace(/\.$/, "")}.`),
      h("div", { class: "sheet-progress" }, ...sessionProgress(session)),
      tabs(tabNames, this.#tab, ["sessions", session.id]), this.#part(session));
  }

  /** @param {Session} session @returns {Child[]} */
  #part(session) {
    switch (this.#tab) {
      case "webhooks": return [this.#webhooks(session)];
      case "json": return [jsonPart(session, copyButton("Copy JSON", "JSON", () => JSON.stringify(this.#session, null, 2)))];
      default: return [factList("Downloads", this.#counts(session)), factList("Configuration", configurationFacts(session))];
    }
  }

  /**
   * The numbers lead to the downloads.
   * @param {Session} session @returns {Fact[]}
   */
  #counts({ id, counts }) {
    const all = Object.keys(stateNames).reduce((sum, state) => sum + counts[state], 0);
    return [["", "All", all], ...Object.entries(stateNames).map(([state, name]) => [state, name, counts[state]])].map(([state, name, number]) => [
      name, state && number === 0 ? "0" : h(
        "button", { type: "button", class: "link", "aria-label": `${count(number)}: ${name}, show these downloads`,
          onclick: () => this.#on.narrow({ session: id, state, tag: "", text: "" }) },
        count(number))]);
  }

  /** @param {Session} session */
  #webhooks({ id }) {
    const webhooks = this.#on.webhooks(id);
    return h("section", { key: "webhooks" },
      webhooks.length === 0 && h("p", { class: "muted" }, "This session has no webhook."),
      h("ul", { class: "sheet-lines" }, webhooks.map(({ webhook, health }) => h(
        "li", { key: webhook.name, "data-health": health.kind }, h("a", { href: `#/webhooks/${id}/${webhook.name}` }, webhook.name), " ",
        h("span", { class: "state" }, health.words), " ", h("span", { class: "muted" }, webhook.url)))),
      h("button", { type: "button", class: "needs-sessions", onclick: () => this.#on.declare(id) }, "New webhook"));
  }
}

/** @param {Session} session @returns {Fact[]} */
function configurationFacts({ configuration, ...session }) {
  const { rate_limit_bytes_per_second: rate, retry, timeouts } = configuration;
  return [
    ["Location", locationWords(configuration.destination.location)],
    ["Folder", configuration.directory || "none"],
    ["Rate limit", rate ? rateText(rate) : "none"],
    ["Downloads at once", configuration.max_concurrent_jobs ? String(configuration.max_concurrent_jobs) : "as the service allows"],
    ["Connections of a download", String(configuration.connections)],
    ["Priority", configuration.priority],
    ["If the file exists", configuration.on_conflict],
    ["Attempts", `${retry.max_attempts}, at most ${duration(retry.max_seconds)} apart`],
    ["Time limit for a download", duration(timeouts.resource_seconds)],
    ["Finish after", duration(configuration.finish_delay_seconds)],
    ["Not acknowledged since", session.unacknowledged_since && fullTime(session.unacknowledged_since)],
    ["Metadata", Object.keys(configuration.metadata ?? {}).length > 0 ? JSON.stringify(configuration.metadata) : null],
  ];
}
