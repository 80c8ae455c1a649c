// The form that adds downloads: one address, or a list of them.

import { FetchdError } from "./client.js";
import { readLines } from "./addresses.js";
import { address, post } from "./api.js";
import { byID, closeByButtons, setText } from "./dom.js";
import { count, counted, hostOf } from "./format.js";
import { readLocations } from "./locations.js";
import { tell } from "./notices.js";
import { Mistake, sentence } from "./problems.js";
import { element, h, render } from "./render.js";
import { readHeaders, readList, readRate } from "./values.js";

/** @typedef {import("./addresses.js").Line} Line */

const mostAtOnce = 10_000;
/** The number of wrong lines that the preview names. */
const mostFaults = 8;
/** Milliseconds without a key after which the preview follows the text. */
const previewPause = 150;

export class AddDialog {
  #dialog = byID("add-dialog");
  #form = byID("add-form");
  #attempt = { body: "", key: "" };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #on;

  /** @param {{ added: (jobs: Job[]) => void }} on */
  constructor(on) {
    this.#on = on;
    closeByButtons(this.#dialog, () => byID("add-submit").hasAttribute("aria-busy"));
    byID("add-open").addEventListener("click", () => this.open());
    this.#form.addEventListener("submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#form.addEventListener("input", () => {
      this.#forgive();
      this.#previewSoon();
    });
    byID("add-drop-faults").addEventListener("click", () => this.#dropFaults());
    // In a textarea, Enter inserts a line break, so Ctrl+Enter submits the form.
    this.#form.elements.urls.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.#form.requestSubmit();
    });
  }

  /** @param text addresses to begin with. */
  open(text = "") {
    this.#forgive();
    const area = this.#form.elements.urls;
    if (text) area.value = [area.value.trimEnd(), text].filter(Boolean).join("\n") + "\n";
    this.#preview();
    if (!this.#dialog.open) this.#dialog.showModal();
    readLocations();
    area.focus();
    area.setSelectionRange(area.value.length, area.value.length);
  }

  /** @param {Session[]} sessions @param {string} chosen */
  showSessions(sessions, chosen) {
    const select = this.#form.elements.session;
    const before = this.#dialog.open ? select.value : chosen || select.value;
    // A finishing session accepts no more jobs.
    const names = sessions.filter((session) => session.state !== "finishing").map((session) => session.id);
    if (names.join("\n") !== [...select.options].map((option) => option.value).join("\n")) {
      select.replaceChildren(...names.map((id) => element("option", { value: id }, id)));
    }
    select.value = names.includes(before) ? before : "default";
  }

  // MARK: The preview

  #previewSoon() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#preview(), previewPause);
  }

  /** Says what would be added, and which lines are wrong. */
  #preview() {
    const lines = this.#lines();
    const faults = lines.filter((line) => line.fault);
    const good = lines.length - faults.length;
    byID("add-preview").hidden = lines.length === 0;
    setText(byID("add-preview-words"), previewWords(lines.filter((line) => !line.fault), faults.length));
    const items = faults.slice(0, mostFaults).map((line) => {
      const words = `Line ${count(line.number)}: ${line.fault}`;
      return h("li", {}, h("button", { type: "button", class: "link", onclick: () => this.#point(line) }, words));
    });
    if (faults.length > mostFaults) items.push(h("li", {}, `And ${counted(faults.length - mostFaults, "other line")}.`));
    render(byID("add-faults"), items);
    byID("add-drop-faults").hidden = faults.length === 0;
    setText(byID("add-drop-faults"), `Remove ${faults.length === 1 ? "this line" : `these ${count(faults.length)} lines`}`);
    setText(byID("add-submit"), good > 1 && faults.length === 0 ? `Add ${counted(good, "download")}` : "Add");
  }

  /** @param {Line} line */
  #point(line) {
    const area = this.#form.elements.urls;
    area.focus();
    area.setSelectionRange(line.start, line.end);
    // The browser does not scroll to a selection.
    const before = this.#form.elements.urls.value.slice(0, line.start).split("\n").length - 1;
    area.scrollTop = Math.max(0, before - 1) * Number.parseFloat(getComputedStyle(area).lineHeight);
  }

  #dropFaults() {
    const area = this.#form.elements.urls;
    const wrong = new Set(this.#lines().filter((line) => line.fault).map((line) => line.number));
    area.value = area.value.split("\n").filter((/** @type {string} */ _, /** @type {number} */ index) => !wrong.has(index + 1)).join("\n");
    this.#forgive();
    this.#preview();
    area.focus();
  }

  // MARK: Submitting

  async #submit() {
    const lines = this.#lines();
    if (lines.length === 0) return this.#complain("Enter at least one address.", "urls");
    const wrong = lines.find((line) => line.fault);
    if (wrong) {
      this.#complain(`Line ${count(wrong.number)}: ${wrong.fault}`, "urls");
      return this.#point(wrong);
    }
    if (lines.length > mostAtOnce) {
      const words = `You can add at most ${count(mostAtOnce)} addresses at once; these are ${count(lines.length)}.`;
      return this.#complain(words, "urls");
    }
    const submit = byID("add-submit");
    if (submit.getAttribute("aria-busy")) return;
    submit.setAttribute("aria-busy", "true");
    const sent = this.#form.elements.urls.value.trimEnd();
    try {
      this.#succeed(await this.#post(lines.map((line) => this.#order(line.urls))), sent);
    } catch (error) {
      if (error instanceof Mistake) this.#complain(sentence(error), error.field);
      else this.#explain(error, lines);
    }
    submit.removeAttribute("aria-busy");
  }

  #lines() {
    return readLines(this.#form.elements.urls.value);
  }

  /** @param {string[]} urls the mirrors of one file. */
  #order(urls) {
    const value = (/** @type {string} */ name) => this.#form.elements[name].value.trim();
    const destination = { location: value("location") || undefined, directory: value("directory") || undefined,
      filename: value("filename") || undefined };
    const headers = readHeaders(value("headers"), "headers");
    const order = {
      ...(urls.length > 1 ? { urls } : { url: urls[0] }), session: value("session"),
      destination: Object.values(destination).some(Boolean) ? destination : undefined,
      state: this.#form.elements.paused.checked ? "paused" : undefined,
      priority: value("priority") || undefined,
      connections: value("connections") ? Number(value("connections")) : undefined,
      rate_limit_bytes_per_second: value("rate") ? (readRate(value("rate"), "rate") ?? undefined) : undefined,
      not_before: value("start") ? new Date(value("start")).toISOString() : undefined,
      tags: value("tags") ? readList(value("tags")) : undefined,
      checksum: readChecksum(value("checksum"), value("algorithm"), value("key")),
      headers: Object.keys(headers).length > 0 ? headers : undefined,
      credentials: this.#credentials(value("username")),
    };
    // JSON leaves out what is undefined.
    return order;
  }

  /** @param {string} username */
  #credentials(username) {
    const password = this.#form.elements.password.value;
    return username || password ? { type: "basic", username, password } : undefined;
  }

  /**
   * If the user repeats a request that got no answer, the idempotency key prevents a second download.
   * @param {Record<string, any>[]} orders
   */
  async #post(orders) {
    const body = orders.length === 1 ? orders[0] : { jobs: orders };
    const text = JSON.stringify(body);
    if (this.#attempt.body !== text) this.#attempt = { body: text, key: randomKey() };
    const path = orders.length === 1 ? address("jobs") : address("jobs", "batch");
    const answer = await post(path, body, { "Idempotency-Key": this.#attempt.key });
    return answer.jobs ?? [answer];
  }

  /** @param {Job[]} jobs @param {string} sent */
  #succeed(jobs, sent) {
    this.#attempt = { body: "", key: "" };
    const { urls, session } = this.#form.elements;
    if (urls.value.trimEnd() === sent) {
      const chosen = session.value;
      this.#form.reset();
      session.value = chosen;
      this.#dialog.close();
    } else if (urls.value.startsWith(`${sent}\n`)) {
      // These were typed or dropped meanwhile.
      urls.value = urls.value.slice(sent.length + 1);
    }
    this.#preview();
    tell(`${counted(jobs.length, "download")} added.`);
    this.#on.added(jobs);
  }

  // MARK: Errors

  /**
   * Shows an error at the field that the problem document points to. For a list, selects the line of the job.
   * @param {any} error @param {Line[]} lines
   */
  #explain(error, lines) {
    const pointer = error instanceof FetchdError ? error.pointer : null;
    const [, index, path] = pointer?.match(/^\/jobs\/(\d+)(.*)$/) ?? [null, "0", pointer];
    const field = Object.keys(fields).find((name) => fields[name].test(path ?? "")) ?? null;
    const line = field === "urls" ? lines[Number(index)] : null;
    const place = line && lines.length > 1 ? `Line ${count(line.number)}: ` : "";
    this.#complain(place + inWords(sentence(error), field), field);
    if (line) this.#form.elements.urls.setSelectionRange(line.start, line.end);
  }

  /** @param {string} text @param {string | null} [field] */
  #complain(text, field) {
    const error = byID("add-error");
    error.hidden = false;
    setText(error, text);
    if (!field) return;
    const control = this.#form.elements[field];
    control.closest("details")?.setAttribute("open", "");
    control.setAttribute("aria-invalid", "true");
    control.setAttribute("aria-describedby", "add-error");
    control.focus();
  }

  #forgive() {
    byID("add-error").hidden = true;
    for (const control of this.#form.elements) control.removeAttribute("aria-invalid");
  }
}

/**
 * A digest, or the URL of a list of digests and the key that has signed it.
 * @param {string} text @param {string} algorithm @param {string} key
 */
function readChecksum(text, algorithm, key) {
  if (text === "") return undefined;
  if (!/^https?:/i.test(text)) return { algorithm, value: text.toLowerCase() };
  return { url: text, signature: key === "" ? undefined : { type: "minisign", url: `${text}.minisig`, keys: [key] } };
}

/**
 * The members that the service names, by field.
 * @type {Record<string, RegExp>}
 */
const fields = {
  urls: /^\/urls?(\/|$)/, session: /^\/session$/, location: /^\/destination\/location$/, directory: /^\/destination\/directory$/, filename: /^\/destination\/filename$/,
  priority: /^\/priority$/, connections: /^\/connections$/, rate: /^\/rate_limit/, start: /^\/not_before$/, tags: /^\/tags/,
  checksum: /^\/checksum(\/value|\/url|\/file)?$/, key: /^\/checksum\/signature/, algorithm: /^\/checksum\/algorithm$/, username: /^\/credentials/, headers: /^\/headers/,
};

/** @type {Record<string, string>} */
const fieldNames = {
  urls: "The address", session: "The session", location: "The location", directory: "The folder", filename: "The file name",
  connections: "The number of connections", checksum: "The checksum", key: "The key", algorithm: "The checksum algorithm",
  priority: "The priority", rate: "The rate limit", start: "The time of the start", tags: "The tags", headers: "The headers",
  username: "The user name",
};

/**
 * Replaces the name of a member in a problem document, such as `jobs.1.url`, with the name of the form's field.
 * @param {string} text @param {string | null} field
 */
function inWords(text, field) {
  return field ? text.replace(/^`[^`]+`/, fieldNames[field]) : text;
}

/** @param {Line[]} good @param {number} faults */
function previewWords(good, faults) {
  const hosts = [...new Set(good.map((line) => hostOf(line.urls[0])))];
  const from = hosts.length > 3 ? counted(hosts.length, "server") : hosts.join(", ");
  const ready = good.length > 0 ? `${counted(good.length, "download")} from ${from}.` : "Nothing to add yet.";
  return faults > 0 ? `${ready} ${counted(faults, "line is", "lines are")} wrong:` : ready;
}

/** `crypto.randomUUID` is not available over plain HTTP. */
function randomKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
