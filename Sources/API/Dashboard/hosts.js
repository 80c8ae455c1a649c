// The servers that get no requests now, because they have refused some, and the downloads that wait for them.

import { address, get, post } from "./api.js";
import { counted, time } from "./format.js";
import { announce, complain } from "./notices.js";

/**
 * The closed servers, by their names with the port.
 * @type {Map<string, Host>}
 */
let closed = new Map();

/** @type {Record<string, string>} */
const standardPorts = { "http:": "80", "https:": "443", "ftp:": "21", "ftps:": "990" };

export async function readHosts() {
  const { hosts } = await get(address("hosts"));
  const isClosed = (/** @type {Host} */ host) => host.state === "closed";
  closed = new Map(hosts.filter(isClosed).map((/** @type {Host} */ host) => [host.host, host]));
}

/** Those that downloads wait for, the one with most of them first. */
export function pausedHosts() {
  return [...closed.values()].filter((host) => host.queued > 0).sort((one, other) => other.queued - one.queued);
}

/**
 * The closed server of a queued download; undefined if it is another one.
 * @param {Job} job
 */
export function pausedHostOf(job) {
  if (closed.size === 0) return undefined;
  try {
    const url = new URL(job.url);
    return closed.get(`${url.hostname}:${url.port || standardPorts[url.protocol]}`);
  } catch {
    return undefined;
  }
}

/**
 * `paused by the server until 14:05`.
 * @param {Host} host
 */
export function pauseWords(host) {
  return `paused by the server until ${time(host.closed_until)}`;
}

/** @param {Host} host */
export function pauseTitle(host) {
  return `${host.host} is ${pauseWords(host)}: ${counted(host.queued, "download waits", "downloads wait")}`;
}

/**
 * The next request to the server starts now.
 * @param {Host} host
 */
export async function openHost(host) {
  try {
    await post(address("hosts", host.host, "open"));
    announce(`${host.host} gets a request now.`);
    await readHosts();
  } catch (error) {
    complain(error);
  }
}
