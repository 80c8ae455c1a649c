// The client of the service's API: sends requests with the token, returns JSON, and throws errors with a clear message.

import { NoAnswer, refusalIn } from "./problems.js";

const base = new URL("v1/", document.baseURI);
/** The timeout in milliseconds. The slowest request is a pause: it syncs the bytes of the transfer first. */
const patience = 60_000;

let keptToken = null;
let askForToken = null;

/** The token that the user has entered; null if there is none, or if a cookie replaces it. */
export function token() {
  return keptToken;
}

/** Keeps the token in memory only: it is gone after a reload. */
export function keepToken(text) {
  keptToken = text;
}

/** @param ask resolves when the user has entered a token; the refused request is then sent again. */
export function onUnauthorized(ask) {
  askForToken = ask;
}

/** An address of the API: `address("jobs", id, "pause")`, each part encoded. */
export function address(...parts) {
  return new URL(parts.map(encodeURIComponent).join("/"), base);
}

/** Adds a query to the address, without empty values. */
export function query(url, values) {
  for (const [name, value] of Object.entries(values)) {
    if (value !== "" && value != null) url.searchParams.set(name, value);
  }
  return url;
}

/**
 * Returns the response, also if its status reports an error. On 401, asks the user for the token and sends the request again.
 *
 * @param options the options of `fetch`. Without a `signal`, the request has a timeout of one minute.
 */
export async function open(url, options = {}) {
  for (;;) {
    const asked = keptToken;
    const headers = new Headers(options.headers);
    if (asked) headers.set("Authorization", `Bearer ${asked}`);
    const signal = options.signal ?? AbortSignal.timeout(patience);
    const response = await answerTo(url, { ...options, headers, signal, cache: "no-store" });
    if (response.status !== 401 || !askForToken) return response;
    const refusal = await refusalIn(response);
    // Another request may have obtained a new token meanwhile.
    if (asked === keptToken) await askForToken(asked ? refusal : null);
  }
}

async function answerTo(url, options) {
  try {
    return await fetch(url, options);
  } catch (error) {
    if (options.signal.reason?.name === "AbortError") throw error;
    throw new NoAnswer();
  }
}

async function exchange(method, url, body, headers = {}) {
  const response = await open(url, {
    method,
    headers: body === undefined ? headers : { "Content-Type": "application/json", ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  if (!response.ok) throw await refusalIn(response);
  return response.status === 204 ? null : await answered(response);
}

async function answered(response) {
  try {
    return await response.json();
  } catch {
    // The response was cut off, or it does not come from fetchd.
    throw new NoAnswer();
  }
}

export const get = (url) => exchange("GET", url);
export const post = (url, body, headers) => exchange("POST", url, body ?? {}, headers);
export const patch = (url, body) => exchange("PATCH", url, body);
export const put = (url, body) => exchange("PUT", url, body);
export const remove = (url) => exchange("DELETE", url);
