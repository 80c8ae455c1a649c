// What the page shows before the first download: how to add one, from here and from elsewhere.

import { address, client } from "./api.js";
import { byID, element } from "./dom.js";
import { copyButton } from "./notices.js";
import { needsToken } from "./signin.js";

const example = "https://example.org/file.iso";

/** @param isEmpty whether the service has no download that the caller may see. */
export function showWelcome(isEmpty) {
  const welcome = byID("welcome");
  if (welcome.hidden !== isEmpty) return;
  welcome.hidden = !isEmpty;
  if (isEmpty) byID("welcome-lines").replaceChildren(...lines().map(([name, text]) => line(name, text)));
}

function lines() {
  const token = needsToken() ? ' -H "Authorization: Bearer $FETCHD_TOKEN"' : "";
  const body = JSON.stringify({ url: example });
  return [
    ["curl", `curl${token} -H 'Content-Type: application/json' -d '${body}' ${address("jobs")}`],
    ["aria2", `${client.url}jsonrpc`],
    ["Swift", `BackgroundSessionConfiguration(service: URL(string: "${client.url.replace(/\/$/, "")}")!, stateFolder: folder)`],
  ];
}

function line(name, text) {
  const copy = copyButton("Copy", "line", () => text);
  copy?.setAttribute("aria-label", `Copy the line for ${name}`);
  return element("div", {}, element("dt", {}, name), element("dd", {}, element("code", {}, text)), copy);
}
