// The form that declares a session or changes its configuration.

import { address, get, patch, put } from "./api.js";
import { askForm } from "./formdialog.js";
import { locationFields, readLocations } from "./locations.js";
import { Mistake } from "./problems.js";
import { headersText, rateText, readHeaders, readRate } from "./values.js";
import { declareFirstWebhook, showSecret } from "./webhookform.js";

const waits = { space: "space on the disk", credentials: "credentials", url: "a new link" };

/**
 * The fields of the form. `at` is the path of the member in the configuration.
 * @type {Field[]}
 */
const settings = [
  { name: "directory", label: "Folder", placeholder: "the downloads folder", hint: "Relative to the folder of the location." },
  { name: "max_concurrent_jobs", label: "Downloads at once", type: "number", min: 1, placeholder: "the service's limit" },
  { name: "rate", label: "Rate limit", placeholder: "none", hint: "For all its downloads together, such as 2 MiB/s.",
    pointer: "/rate_limit_bytes_per_second" },
  { name: "max_connections_per_host", label: "Connections to one host", type: "number", min: 1,
    placeholder: "the service's limit" },
  { name: "connections", label: "Connections of a download", type: "number", min: 1, max: 16 },
  { name: "priority", label: "Priority", options: { normal: "normal", high: "high", low: "low" } },
  { name: "on_conflict", label: "If the file exists", options: { rename: "choose another name", error: "fail",
    replace: "replace it" } },
  ...Object.entries(waits).map(([key, words]) => ({ name: `wait_${key}`, label: `Wait for ${words} instead of failing`,
    type: "checkbox", pointer: "/wait_for" })),
  { name: "proxy", label: "Proxy", placeholder: "none",
    hint: "Such as http://user:password@proxy:3128 or socks5://proxy:1080. The password is never shown.", more: true },
  { name: "headers", label: "Headers, one per line", type: "textarea",
    hint: "Values of secret headers are shown as [secret]; leave them so to keep them.", more: true },
  { name: "user_agent", label: "User agent", more: true },
  { name: "minimum", label: "Slowest speed", placeholder: "any", hint: "A slower transfer is ended and tried again.",
    pointer: "/minimum_bytes_per_second", more: true },
  { name: "attempts", label: "Attempts", type: "number", min: 1, at: ["retry", "max_attempts"], more: true },
  { name: "longest_delay", label: "Longest delay between attempts (s)", type: "number", min: 0, step: "any", at: ["retry",
    "max_seconds"], more: true },
  { name: "request_timeout", label: "Time limit without data (s)", type: "number", min: 0, step: "any", at: ["timeouts",
    "request_seconds"], more: true },
  { name: "resource_timeout", label: "Time limit for a download (s)", type: "number", min: 0, step: "any", at: ["timeouts",
    "resource_seconds"], more: true },
  { name: "finish_delay_seconds", label: "Finish delay (s)", type: "number", min: 0, step: "any",
    hint: "From the last download to the end of the batch.", more: true },
  { name: "acknowledgement", label: "Acknowledgement of a finish", options: { "": "expected once a consumer exists",
    expected: "expected", none: "not expected" }, hint: "A webhook that accepts the finish, or a program that calls the API.",
    more: true },
  { name: "resume_data_ttl_seconds", label: "Keep bytes of unfinished downloads (s)", type: "number", min: 0, step: "any",
    more: true },
  { name: "digest", label: "Digest of each file", options: { "sha-256": "sha-256", none: "none" }, more: true },
  { name: "resume_policy", label: "Resume", options: { strict: "with the same strong ETag or date", evidence: "also with equal bytes" },
    more: true },
  { name: "ca_file", label: "Certificates to trust", placeholder: "the system's",
    hint: "The path of a PEM file on fetchd's machine.", at: ["tls", "ca_file"], more: true },
  { name: "verify", label: "Verify the certificates of servers", type: "checkbox", at: ["tls", "verify"], more: true },
].map((field) => ({ ...field, pointer: field.pointer ?? (field.at ? `/${field.at.join("/")}` : undefined) }));

/** Those of the form that the service has. */
function configurationFields() {
  return [...locationFields(), ...settings];
}

/**
 * Declares a session and, if the user names one, its first webhook, whose secret is shown.
 * @param {Session[]} sessions @returns the session; null if nothing was declared.
 */
export async function declareSession(sessions) {
  const first = [
    { name: "id", label: "Name", hint: "Letters, digits, and . _ - are allowed.", required: true, autofocus: true },
    { name: "webhook", label: "Webhook", type: "url", pointer: "/url", placeholder: "none",
      hint: "Gets the finish of the session, signed." },
  ];
  /** @type {any} */
  let session = null;
  const webhook = await askForm({
    heading: "New session", words: "A session is a group of downloads with one configuration.", submit: "Create",
    fields: [...first, ...configurationFields()], values: formValues(defaults),
    send: async (/** @type {Record<string, any>} */ values) => {
      if (!values.id) throw new Mistake("Enter a name for the session.", "id");
      // After a mistake in the address of the webhook, the session is there.
      const isKnown = session?.id !== values.id && sessions.some(({ id }) => id === values.id);
      if (isKnown) throw new Mistake("There is a session with this name.", "id");
      session = await put(address("sessions", values.id), configurationOf(values));
      return values.webhook ? declareFirstWebhook(values.id, values.webhook) : null;
    },
  });
  if (webhook) await showSecret(webhook);
  return session;
}

/**
 * @param {string} id @param {string | null} focus the name of the field to begin with.
 * @returns the session; null if nothing was changed.
 */
export async function editSession(id, focus = null) {
  const [{ configuration }] = await Promise.all([get(address("sessions", id)), readLocations()]);
  return await askForm({
    heading: `Session ${id}`, words: "Running downloads keep the configuration that they began with, except the rate limit.",
    submit: "Save", fields: configurationFields(), values: formValues(configuration), focus,
    send: (/** @type {Record<string, any>} */ values) => patch(address("sessions", id), changesOf(values, configuration)),
  });
}

// MARK: Configurations

/**
 * The values of a session that sets nothing. A member with its default is not sent, so that it follows later defaults.
 * @type {Record<string, any>}
 */
const defaults = {
  headers: {}, user_agent: "fetchd", timeouts: { request_seconds: 60, connect_seconds: 30, resource_seconds: 604_800 },
  minimum_bytes_per_second: null, max_concurrent_jobs: null, max_connections_per_host: null, rate_limit_bytes_per_second: null,
  retry: { max_attempts: 8, base_seconds: 1, max_seconds: 3600 }, tls: { ca_file: null, pinned_public_keys: {}, verify: true },
  proxy: null, destination: { location: "default" }, directory: "", on_conflict: "rename", wait_for: ["space"], digest: "sha-256", decode: false, resume_policy: "strict", priority: "normal",
  finish_delay_seconds: 1, acknowledgement: null, resume_data_ttl_seconds: 604_800, connections: 1, metadata: {},
};

/** @param {Record<string, any>} configuration */
function formValues(configuration) {
  const values = Object.fromEntries(configurationFields().map((field) => [field.name, memberAt(configuration, field.at ?? [field.name])]));
  return {
    ...values, rate: rateText(configuration.rate_limit_bytes_per_second), minimum: rateText(configuration.minimum_bytes_per_second),
    headers: headersText(configuration.headers),
    ...Object.fromEntries(Object.keys(waits).map((key) => [`wait_${key}`, configuration.wait_for.includes(key)])),
  };
}

/** @param {any} document @param {string[]} path */
function memberAt(document, path) {
  return path.reduce((value, name) => value?.[name], document);
}

/**
 * The configuration of a new session.
 * @param {Record<string, any>} values
 */
function configurationOf(values) {
  return Object.fromEntries(Object.entries(filled(values, defaults))
    .filter(([name, value]) => !isSame(value, defaults[name]) && value !== null));
}

/**
 * The members that the form has changed, as a merge patch: what others change meanwhile stays.
 * @param {Record<string, any>} values @param {Record<string, any>} before
 */
function changesOf(values, before) {
  return difference(before, filled(values, before), defaults);
}

/**
 * The document with what the form has.
 * @param {Record<string, any>} values @param {Record<string, any>} before
 */
function filled(values, before) {
  const made = structuredClone({ ...defaults, ...before });
  for (const { name, at, type } of configurationFields()) {
    const path = at ?? [name];
    if (!(path[0] in defaults)) continue;
    const parent = memberAt(made, path.slice(0, -1));
    parent[path.at(-1)] = type === "number" ? (values[name] === "" ? null : Number(values[name])) : values[name] === "" ? null
      : values[name];
  }
  made.headers = readHeaders(values.headers, "headers");
  made.rate_limit_bytes_per_second = values.rate ? readRate(values.rate, "rate") : null;
  made.minimum_bytes_per_second = values.minimum ? readRate(values.minimum, "minimum") : null;
  made.wait_for = Object.keys(waits).filter((key) => values[`wait_${key}`]);
  return made;
}

/**
 * The merge patch (RFC 7396) that makes one document of another. A member with its default is removed.
 * @param {Record<string, any>} before @param {Record<string, any>} made @param {Record<string, any> | undefined} initial
 */
function difference(before, made, initial) {
  /** @type {Record<string, any>} */
  const changes = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(made)])) {
    const [old, value] = [before[name], made[name]];
    if (isSame(value ?? null, old ?? null)) continue;
    if (isObject(old) && isObject(value)) changes[name] = difference(old, value, initial?.[name]);
    else changes[name] = value === undefined || isSame(value, initial?.[name]) ? null : value;
  }
  return changes;
}

/** @param {unknown} value */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @param {any} one @param {any} other */
function isSame(one, other) {
  return JSON.stringify(one) === JSON.stringify(other) || (one === null && other === "");
}
