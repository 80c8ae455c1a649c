// The forms of webhooks: declare one, change it, send missed events again, and replace the secret. A secret is shown once.

import { address, post, put } from "./api.js";
import { byID } from "./dom.js";
import { askForm } from "./formdialog.js";
import { counted } from "./format.js";
import { copyButton, tell } from "./notices.js";
import { Mistake } from "./problems.js";
import { ask } from "./question.js";
import { element, render } from "./render.js";
import { readHeaders } from "./values.js";

const patterns = {
  "session.*": "Everything about the session", "job.*": "Everything about its downloads",
    "session.finished": "The session has finished",
  "session.waiting": "The session requires action", "job.succeeded": "A download is done", "job.failed": "A download has failed",
  "job.waiting": "A download waits", "webhook.disabled": "Another webhook was disabled",
};
const usual = ["session.*"];

function eventFields() {
  return Object.entries(patterns).map(([pattern, words]) => ({
    name: pattern, label: `${words} (${pattern})`, type: "checkbox", pointer: "/events",
  }));
}

/** @param {Webhook | null} webhook */
function endpointFields(webhook) {
  const names = webhook?.header_names ?? [];
  const kept = names.length > 0 ? ` Their values are never shown: write ${names.join(", ")} again, or they are no longer sent.`
    : "";
  return [
    { name: "url", label: "Address", type: "url", isWide: true, placeholder: "https://example.org/hook", required: true },
    ...eventFields(),
    { name: "others", label: "Other events", hint: "Separated by commas, such as job.started.", pointer: "/events", more: true },
    { name: "headers", label: "Headers, one per line", type: "textarea",
      hint: `Sent with every request, for a gateway that demands a key.${kept}`, more: names.length === 0 },
    { name: "format", label: "Form of the bodies", options: { standard: "Standard Webhooks", cloudevents: "CloudEvents" }, more: true },
    { name: "signature", label: "Signature", pointer: "/signature", more: true,
      options: { v1: "with the secret", v1a: "with the key of the service", "v1 v1a": "with both" } },
    { name: "ca_file", label: "Certificates to trust", placeholder: "the system's",
      hint: "The path of a PEM file on fetchd's machine.", pointer: "/tls/ca_file", more: true },
    { name: "verify", label: "Verify the certificate of the endpoint", type: "checkbox", pointer: "/tls/verify", more: true },
  ];
}

/** @param {Session[]} sessions @param {string} chosen @returns the webhook; null if nothing was declared. */
export async function declareWebhook(sessions, chosen = "default") {
  const open = sessions.filter((session) => session.state !== "finishing").map((session) => session.id);
  open.sort((one, other) => Number(other === chosen) - Number(one === chosen));
  const fields = [
    { name: "session", label: "Session", options: Object.fromEntries(open.map((id) => [id, id])) },
    { name: "name", label: "Name", hint: "Letters, digits, and . _ - are allowed.", required: true },
    ...endpointFields(null),
    { name: "secret", label: "Secret", placeholder: "generated", hint: "whsec_ and the base64 of 24 to 64 bytes.", more: true },
  ];
  const webhook = await askForm({
    heading: "New webhook", words: "fetchd posts the events of the session to this address, signed by Standard Webhooks, until it answers 2xx.",
    submit: "Create", fields, values: { ...checked(usual), verify: true, format: "standard", signature: "v1" },
    send: (/** @type {Record<string, any>} */ values) => {
      if (!values.name) throw new Mistake("Enter a name for the webhook.", "name");
      return put(address("sessions", values.session, "webhooks", values.name), declarationOf(values, null));
    },
  });
  if (webhook?.secret) await showSecret(webhook);
  else if (webhook) tell(`The webhook ${webhook.name} was there already, and is changed.`);
  return webhook;
}

/** @param {Webhook} webhook @returns the webhook; null if nothing was changed. */
export function editWebhook(webhook) {
  const { session, name, events, tls } = webhook;
  const others = events.filter((/** @type {string} */ pattern) => !(pattern in patterns)).join(", ");
  return askForm({
    heading: `Webhook ${name} of ${session}`, words: "The secret stays.", submit: "Save", fields: endpointFields(webhook),
    values: {
      url: webhook.url, ...checked(events), others, ca_file: tls.ca_file, verify: tls.verify, format: webhook.format,
      signature: webhook.signature.join(" "),
    },
    send: (/** @type {Record<string, any>} */ values) => put(address("sessions", session, "webhooks", name), declarationOf(values, tls)),
  });
}

/** @param {string[]} events */
function checked(events) {
  return Object.fromEntries(Object.keys(patterns).map((pattern) => [pattern, events.includes(pattern)]));
}

/** @param {Record<string, any>} values @param {Record<string, any> | null} tls */
function declarationOf(values, tls) {
  const others = values.others.split(",").map((/** @type {string} */ pattern) => pattern.trim()).filter(Boolean);
  const events = [...Object.keys(patterns).filter((pattern) => values[pattern]), ...others];
  if (events.length === 0) throw new Mistake("Choose at least one kind of event.", usual[0]);
  const headers = readHeaders(values.headers, "headers");
  return {
    url: values.url, events, format: values.format, signature: values.signature.split(" "),
    ...(Object.keys(headers).length > 0 ? { headers } : {}), ...(values.secret ? { secret: values.secret } : {}),
    tls: { ...tls, ca_file: values.ca_file || null, verify: values.verify },
  };
}

/**
 * A webhook for what concerns a session itself.
 * @param {string} session @param {string} url
 */
export function declareFirstWebhook(session, url) {
  return put(address("sessions", session, "webhooks", "finish"), { url, events: usual });
}

// MARK: Secrets and missed events

/** @param {Webhook} webhook */
export async function rotateSecret({ session, name }) {
  const words = "The present secret signs, too, for another 24 hours, so that the endpoint can change without a gap.";
  if (!(await ask(`Replace the secret of ${name}?`, words, "Replace"))) return;
  await showSecret(await post(address("sessions", session, "webhooks", name, "rotate-secret")));
}

/** @param {Webhook} webhook */
export async function showSecret({ name, secret }) {
  const shown = askForm({
    heading: `The secret of ${name}`,
      words: "The endpoint verifies signatures with it. fetchd does not show it again: copy it now.",
    submit: "I have copied it", fields: [{ name: "secret", label: "Secret", isWide: true, readonly: true }], values: { secret },
    send: async () => true,
  });
  const field = byID("form-form").elements.secret;
  field.select();
  const place = element("span");
  field.after(place);
  render(place, copyButton("Copy", "secret", () => secret));
  await shown;
}

/**
 * Sends events again, also those from before the webhook existed.
 * @param {Webhook} webhook
 */
export async function recoverWebhook({ session, name }) {
  const answer = await askForm({
    heading: `Send events again to ${name}`,
      words: "Every event of the session after this one that the webhook subscribes to is sent again.",
    submit: "Replay", fields: [{ name: "after", label: "After the event number", type: "number", min: 0,
      hint: "0 sends everything that the journal has." }],
    values: { after: "0" },
    send: (/** @type {Record<string, any>} */ values) => post(address("sessions", session, "webhooks", name, "recover"), { after: Number(values.after) }),
  });
  if (answer) tell(`${counted(answer.recovered, "event")} will be sent again.`);
}
