// The requests of the page. It uses the client that every other page can use, too.

import { Client } from "./client.js";

/** The user sees at once that the service does not answer, so no request waits for it. */
export const client = new Client(new URL(".", document.baseURI).href, { patience: 0 });

/** An address of the API: `address("jobs", id, "pause")`, each part encoded. */
export const address = (/** @type {string[]} */ ...parts) => client.address(parts);

/**
 * Adds a query to the address, without empty values.
 * @param {URL} url @param {Record<string, any>} values
 */
export function query(url, values) {
  for (const [name, value] of Object.entries(values)) {
    if (value !== "" && value != null) url.searchParams.set(name, value);
  }
  return url;
}

export const get = (/** @type {URL} */ url) => client.request("GET", url);
export const post = (/** @type {URL} */ url, json = {}, /** @type {Record<string, string>} */ headers = {}) => client.request("POST", url, { json, headers });
export const patch = (/** @type {URL} */ url, /** @type {unknown} */ json) => client.request("PATCH", url, { json });
export const put = (/** @type {URL} */ url, /** @type {unknown} */ json) => client.request("PUT", url, { json });
export const remove = (/** @type {URL} */ url) => client.request("DELETE", url);
