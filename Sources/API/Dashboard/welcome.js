// What the page shows before the first download: how to add one, from here and from elsewhere.

import { address, client, post } from "./api.js";
import { byID } from "./dom.js";
import { complain, copyButton } from "./notices.js";
import { h, render } from "./render.js";
import { needsToken } from "./signin.js";

/** It loses its connection, resumes, and succeeds. docs/sessions.md describes the parameters. */
const rehearsal = "rehearse:film.mkv?size=30000000&seconds=15&lose_at=10000000";
const example = "https://example.org/file.iso";

/** @param {boolean} isEmpty whether the service has no download that the caller may see. */
export function showWelcome(isEmpty) {
  const welcome = byID("welcome");
  if (welcome.hidden !== isEmpty) return;
  welcome.hidden = !isEmpty;
  if (isEmpty) render(byID("welcome-lines"), lines().map(([name, text]) => line(name, text)));
}

/** @param {(job: Job) => void} added */
export function prepareRehearsal(added) {
  byID("welcome-rehearse").addEventListener("click", async () => {
    try {
      added(await post(address("jobs"), { url: rehearsal }));
    } catch (error) {
      complain(error);
    }
  });
}

/** @returns {[string, string][]} */
function lines() {
  const token = needsToken() ? ' -H "Authorization: Bearer $FETCHD_TOKEN"' : "";
  const body = JSON.stringify({ url: example });
  return [
    ["curl", `curl${token} -H 'Content-Type: application/json' -d '${body}' ${address("jobs")}`],
    ["aria2", `${client.url}jsonrpc`],
    ["Swift", `BackgroundSessionConfiguration(service: URL(string: "${client.url.replace(/\/$/, "")}")!, stateFolder: folder)`],
  ];
}

/** @param {string} name @param {string} text */
function line(name, text) {
  return h("div", {}, h("dt", {}, name), h("dd", {}, h("code", {}, text), copyButton("Copy", `line for ${name}`, () => text)));
}
