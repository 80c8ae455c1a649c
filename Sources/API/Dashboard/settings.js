// The settings of the service that can change while it runs (`/v1/service`): the values, where each comes from, and what a
// schedule makes of them now.

import { address, get, patch } from "./api.js";
import { byID, setText } from "./dom.js";
import { fieldElement, showMistake, valuesIn } from "./formdialog.js";
import { time } from "./format.js";
import { readLocations } from "./locations.js";
import { tell } from "./notices.js";
import { Mistake, sentence } from "./problems.js";
import { element } from "./render.js";
import { mayUse } from "./scopes.js";
import { durationText, rateText, readDuration, readRate, readSize, sizeText } from "./values.js";

const levels = ["trace", "debug", "info", "notice", "warning", "error", "critical"];

/**
 * The fields, as far as the service has them: others get a field for text.
 * @type {Field[]}
 */
const known = [
  { name: "rate_limit_bytes_per_second", label: "Rate limit of the service", kind: "rate", placeholder: "none",
    hint: "For all downloads together, such as 20 MiB/s." },
  { name: "max_concurrent_jobs", label: "Downloads at once", type: "number", min: 1, max: 10_000 },
  { name: "max_connections_per_host", label: "Connections to one host", type: "number", min: 1, max: 10_000 },
  { name: "hosts", label: "Rules for servers", kind: "rules",
    hint: "One server in each line, and what it allows, such as “*.example.com requests_per_second=3 connections=2 pause_statuses=403”." },
  { name: "schedule", label: "Schedule", kind: "lines",
    hint: "One rule in each line: days, times, a time zone and limits, such as “mon-fri 08:00-18:00 Europe/Berlin rate_limit_bytes_per_second=1M”." },
  { name: "allow_network", label: "Networks that downloads may use", kind: "list",
    hint: "Besides public addresses, such as 10.0.0.0/8; separated by commas." },
  { name: "deny_network", label: "Networks that nothing may use", kind: "list" },
  { name: "allow_webhook_network", label: "Networks that webhooks of other callers may use", kind: "list" },
  { name: "allow_origin_host", label: "Hosts to download from", kind: "list", placeholder: "all",
    hint: "Such as files.example.com or *.example.com." },
  { name: "deny_origin_host", label: "Hosts never to download from", kind: "list" },
  { name: "allow_origin_port", label: "Ports to download from", kind: "list", placeholder: "all",
    hint: "Such as 443 or 8000-8999." },
  { name: "minimum_free_bytes", label: "Space that downloads leave free", kind: "optional", unit: "size", placeholder: "1 % of the disk, at most 1 GiB" },
  { name: "max_file_size", label: "Largest size of a file", kind: "optional", unit: "size", placeholder: "no limit" },
  { name: "resume_data_max_bytes", label: "Space of what stopped downloads keep", kind: "optional", unit: "size", placeholder: "no limit",
    hint: "Of all paused, waiting and failed downloads together. Beyond it, the oldest ones lose their bytes." },
  { name: "max_parts", label: "Stopped downloads that keep bytes", kind: "optional", placeholder: "no limit" },
  { name: "event_retention", label: "Keep acknowledged events for", kind: "optional", unit: "duration" },
  { name: "unacknowledged_retention", label: "Keep other events for", kind: "optional", unit: "duration" },
  { name: "finished_retention", label: "Keep ended downloads for", kind: "optional", unit: "duration", placeholder: "for ever",
    hint: "Such as 30 days. The service deletes them from its list afterwards." },
  { name: "log_level", label: "Log level", options: Object.fromEntries(levels.map((level) => [level, level])) },
];

/** @type {Record<string, string>} */
const sources = {
  api: "set by the API", flag: "set by an option of the command line", environment: "set by an environment variable",
  file: "set by the configuration file", default: "the default",
};

/** Members of the document that are no settings. */
const others = ["sources", "effective"];

export class SettingsForm {
  #form = byID("settings-form");
  /** @type {Field[]} */
  #fields = [];
  /** @type {any} */
  #document = null;
  #isReading = false;
  /** What the fields were made of. */
  #mark = "";

  constructor() {
    this.#form.addEventListener("submit", (/** @type {Event} */ event) => {
      event.preventDefault();
      this.#save();
    });
    this.#form.addEventListener("reset", (/** @type {Event} */ event) => {
      event.preventDefault();
      this.#show(this.#document);
    });
  }

  /** Reads the settings, unless the user has changed some that are not saved. */
  async open() {
    readLocations();
    if (this.#isReading || this.#isChanged()) return;
    this.#isReading = true;
    let show;
    try {
      const settings = await get(address("service"));
      show = () => this.#show(settings);
    } catch (error) {
      show = () => this.#showNone(error);
    }
    this.#isReading = false;
    // The user may have changed some meanwhile.
    if (!this.#isChanged()) show();
  }

  /** @param {any} error */
  #showNone(error) {
    this.#document = null;
    this.#mark = "";
    byID("settings-actions").hidden = true;
    byID("settings-fields").replaceChildren();
    setText(byID("settings-words"),
      error.status === 404 ? "This version of fetchd has no settings that can change while it runs." : sentence(error));
  }

  /** @param {Record<string, any>} settings @param {Record<string, string>} unsaved */
  #show(settings, unsaved = {}) {
    this.#document = settings;
    byID("settings-error").hidden = true;
    byID("settings-actions").hidden = false;
    setText(byID("settings-words"),
      `These settings apply to the whole service, at once and after a restart. ${effectiveWords(settings.effective)}`.trim());
    this.#makeFields();
    for (const field of this.#fields) {
      const control = this.#form.elements[field.name];
      control.value = unsaved[field.name] ?? textOf(field, settings[field.name]);
      control.removeAttribute("aria-invalid");
    }
  }

  /** Replaces the fields if another document or scope has others. A replaced field keeps the focus. */
  #makeFields() {
    const mark = JSON.stringify([this.#document, mayUse("sessions"), mayUse("admin")]);
    if (mark === this.#mark) return;
    this.#mark = mark;
    const place = byID("settings-fields");
    const focused = place.contains(document.activeElement) && document.activeElement?.closest(".field");
    this.#fields = fieldsOf(this.#document);
    place.replaceChildren(...this.#fields.map((field) => this.#element(field)));
    if (focused) this.#form.elements[focused.querySelector("[name]").name]?.focus();
  }

  /** @param {Field} field */
  #element(field) {
    const source = this.#document.sources?.[field.name];
    const isDisabled = !mayUse("sessions");
    const made = fieldElement({ ...field, type: ["lines", "rules"].includes(field.kind) ? "textarea" : field.type, isDisabled }, textOf(field,
      this.#document[field.name]));
    const words = element("span", { class: "hint source" }, sources[source] ?? "");
    made.append(words);
    if (source === "api" && !isDisabled) {
      const press = () => this.#send({ [field.name]: null }, `“${field.label}” follows the configuration again.`);
      words.append(". ", element("button", { type: "button", class: "link", onclick: press,
        "aria-label": `Reset: ${field.label}` }, "Reset"));
    }
    return made;
  }

  /** The texts of the fields that the user has changed, without those that are still as they were sent. */
  #unsaved(/** @type {Record<string, string>} */ sent = {}) {
    if (!this.#document) return {};
    const before = (/** @type {Field} */ field) => sent[field.name] ?? textOf(field, this.#document[field.name]);
    const texts = valuesIn(this.#form, this.#fields);
    const changed = this.#fields.filter((field) => texts[field.name] !== before(field));
    return Object.fromEntries(changed.map(({ name }) => [name, texts[name]]));
  }

  #isChanged() {
    return Object.keys(this.#unsaved()).length > 0;
  }

  async #save() {
    try {
      const texts = this.#unsaved();
      const changed = this.#fields.filter((field) => field.name in texts);
      if (changed.length === 0) return tell("Nothing has changed.");
      for (const field of changed) this.#requireValue(field, texts[field.name]);
      await this.#send(Object.fromEntries(changed.map((field) => [field.name, valueOf(field, texts[field.name])])),
        "The settings are saved.");
    } catch (error) {
      showMistake(this.#form, byID("settings-error"), this.#fields, error);
    }
  }

  // Without a value, the one of the configuration applies.
  /** @param {Field} field @param {string} text */
  #requireValue({ name, kind, label }, text) {
    if (kind !== "optional" || text.trim() || this.#document.sources?.[name] === "api") return;
    throw new Mistake(`“${label}” is set by the configuration. To lift it, enter a larger value.`, name);
  }

  /**
   * What the user has changed besides, or changes until the service has answered, stays unsaved in its field.
   * @param {Record<string, any>} change @param {string} words
   */
  async #send(change, words) {
    const texts = valuesIn(this.#form, this.#fields);
    const sent = Object.fromEntries(Object.keys(change).map((name) => [name, texts[name]]));
    try {
      const settings = await patch(address("service"), change);
      this.#show(settings, this.#unsaved(sent));
      tell(words);
    } catch (error) {
      showMistake(this.#form, byID("settings-error"), this.#fields, error);
    }
  }
}

/** @param {Record<string, any>} document */
function fieldsOf(document) {
  // The service hides settings of administrators from other callers: they are null, too.
  const there = known.filter((field) => document[field.name] != null || (field.kind === "optional" && mayUse("admin")));
  const names = Object.keys(document).filter((name) => !others.includes(name) && !known.some((field) => field.name === name));
  return [...there, ...names.map((name) => ({ name, label: name.replaceAll("_", " "), kind: kindOf(document[name]) }))];
}

/** @param {unknown} value */
function kindOf(value) {
  if (Array.isArray(value)) return "list";
  return typeof value === "number" ? "number" : "text";
}

/** @param {Field} it @param {any} value */
function textOf({ kind, unit }, value) {
  if (value == null) return "";
  if (unit) return unit === "size" ? sizeText(value) : durationText(value);
  if (kind === "rate") return rateText(value);
  if (kind === "lines") return value.join("\n");
  if (kind === "rules") return value.map(ruleText).join("\n");
  return kind === "list" ? value.join(", ") : String(value);
}

/** @param {Field} field @param {string} text */
function valueOf({ name, kind, unit, type, label }, text) {
  if (kind === "rate") return (text && readRate(text, name)) || 0;
  if (kind === "lines" || kind === "rules") {
    const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
    return kind === "rules" ? lines.map((line) => readRule(line, name)) : lines;
  }
  if (kind === "optional" && !text.trim()) return null;
  if (unit) return unit === "size" ? readSize(text, name) : readDuration(text, name);
  if (kind === "list") return text.split(/[,\n]/).map((entry) => entry.trim()).filter(Boolean);
  if (kind !== "number" && kind !== "optional" && type !== "number") return text;
  if (!/^-?\d+(\.\d+)?$/.test(text)) throw new Mistake(`“${label}” takes a number.`, name);
  return Number(text);
}

/**
 * A rule as a line: the host, and each member as NAME=VALUE.
 * @param {Record<string, any>} it
 */
function ruleText({ host, ...limits }) {
  return [host, ...Object.entries(limits).map(([name, value]) => `${name}=${[value].flat().join(",")}`)].join(" ");
}

/** @param {string} line @param {string} field */
function readRule(line, field) {
  const [host, ...words] = line.split(/\s+/);
  /** @type {Record<string, any>} */
  const rule = { host };
  for (const word of words) {
    const [, name, value] = /^(\w+)=(\d[\d.,]*)$/.exec(word) ?? [];
    if (!name) throw new Mistake(`“${word}” in the line of ${host} is no limit, such as connections=2.`, field);
    rule[name] = name === "pause_statuses" ? value.split(",").map(Number) : Number(value);
  }
  return rule;
}

/** @param {Record<string, any> | undefined} effective */
function effectiveWords(effective) {
  if (!effective?.until) return "";
  const rate = effective.rate_limit_bytes_per_second ? `at most ${rateText(effective.rate_limit_bytes_per_second)}`
    : "no rate limit";
  return `Until ${time(effective.until)}, when the schedule changes them, the limits are: ${rate}, ${effective.max_concurrent_jobs} downloads at once.`;
}
