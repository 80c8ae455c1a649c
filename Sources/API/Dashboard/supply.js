// The form for a new address or credentials that a waiting or failed job needs from the user.

import { act, lack } from "./actions.js";
import { address, patch, post } from "./api.js";
import { askForm } from "./formdialog.js";
import { count, counted } from "./format.js";
import { complain, showProgress, tell } from "./notices.js";
import { Mistake, sentence } from "./problems.js";
import { element } from "./render.js";

/**
 * Creates the form.
 * @param {Job} job @param {(job: Job) => void} changed is called with the updated job.
 */
export function supplyForm(job, changed) {
  const error = element("p", { class: "error", role: "alert", hidden: true });
  const isAddress = lack(job) === "url";
  const heading = isAddress ? "New link" : "Credentials";
  const goOn = job.state === "waiting" ? "Continue" : "Retry";
  const form = element(
    "form", { class: "supply", novalidate: true }, element("h3", {}, heading), error,
    element("div", { class: "fields" }, ...(isAddress ? addressFields() : credentialFields(job))),
    element("button", { type: "submit", class: "primary" }, goOn));
  form.addEventListener("submit", async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      changed(await supply(job, isAddress ? newAddress(form) : newCredentials(form)));
    } catch (problem) {
      error.hidden = false;
      error.textContent = sentence(problem);
    }
  });
  return form;
}

/** @param {Job} job @param {Record<string, any>} change */
async function supply(job, change) {
  const changed = await patch(address("jobs", job.id), change);
  tell(changed.state === "failed" ? "The download is retried." : "The download continues.");
  // A waiting job continues automatically; a failed job needs a retry.
  return changed.state === "failed" ? ((await act("retry", changed)) ?? changed) : changed;
}

function addressFields() {
  return [element("label", { class: "wide" }, "Address ", field({ name: "url" }))];
}

/** @param {Record<string, any>} attributes */
function field(attributes) {
  return element("input", { autocomplete: "off", spellcheck: "false", ...attributes });
}

/** @param {any} form */
function newAddress(form) {
  return { url: form.elements.url.value.trim() };
}

/** @param {Job} job */
function credentialFields(job) {
  const asked = job.challenge?.scheme;
  const types = ["basic", "digest", "bearer"].map((type) => element("option", { selected: type === asked }, type));
  return [
    element("label", {}, "Type ", element("select", { name: "type" }, ...types)),
    element("label", {}, "User name ", field({ name: "username" })),
    element("label", {}, "Password or token ", field({ name: "secret", type: "password" })),
  ];
}

/** @param {any} form */
function newCredentials(form) {
  const { type, username, secret } = form.elements;
  if (type.value === "bearer") return { credentials: { type: "bearer", token: secret.value } };
  return { credentials: { type: type.value, username: username.value, password: secret.value } };
}

// MARK: Many downloads

/**
 * Asks for credentials once, and gives them to all of these downloads.
 * @param {Job[]} jobs @param {string} place @param {(id: string, job: Job) => void} changed (id, job) is called for each of them.
 */
export async function supplyCredentials(jobs, place, changed) {
  const scheme = jobs.find((job) => job.challenge?.scheme)?.challenge.scheme ?? "basic";
  const credentials = await askForm({
    heading: "Enter credentials", words: `For ${counted(jobs.length, "download")} from ${place}.`, submit: "Continue",
    fields: [
      { name: "type", label: "Type", options: { basic: "basic", digest: "digest", bearer: "bearer" } },
      { name: "username", label: "User name" }, { name: "secret", label: "Password or token", type: "password" },
    ],
    values: { type: scheme }, focus: "username", send: async (/** @type {Record<string, any>} */ values) => credentialsIn(values),
  });
  if (credentials) await giveToAll(jobs, credentials, changed);
}

/** A browser opens six connections to a host, and one has the stream. */
const atOnce = 5;

/**
 * Credentials are given to each download by itself, a few at a time: no action on many takes secrets.
 * @param {Job[]} jobs @param {Record<string, any>} credentials @param {(id: string, job: Job) => void} changed
 */
async function giveToAll(jobs, credentials, changed) {
  const [queue, refusals] = [[...jobs], new Map()];
  let done = 0;
  const progress = queue.length > atOnce ? showProgress(() => queue.splice(0)) : null;
  const worker = async () => {
    for (let job = queue.shift(); job; job = queue.shift()) {
      try {
        changed(job.id, await giveTo(job, credentials));
        done += 1;
      } catch (error) {
        const text = sentence(error).replaceAll(job.id, "the download");
        refusals.set(text, (refusals.get(text) ?? 0) + 1);
      }
      progress?.show(done, jobs.length, "continued");
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  progress?.end();
  if (done > 0) tell(`${counted(done, "download")} continued.`);
  for (const [text, times] of [...refusals].slice(0, 3)) complain(times > 1 ? `${count(times)} times: ${text}` : text);
}

/** @param {Record<string, any>} it */
function credentialsIn({ type, username, secret }) {
  if (!secret) throw new Mistake("Enter the password or the token.", "secret");
  return type === "bearer" ? { type, token: secret } : { type, username, password: secret };
}

/** @param {Job} job @param {Record<string, any>} credentials */
async function giveTo(job, credentials) {
  const changed = await patch(address("jobs", job.id), { credentials });
  return changed.state === "failed" ? await post(address("jobs", job.id, "retry")) : changed;
}
