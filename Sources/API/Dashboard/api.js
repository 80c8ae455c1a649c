// The service's API: requests with the token, answers as JSON, everything else as an error that speaks.

import { NoAnswer, refusalIn } from "./problems.js";

const base = new URL("v1/", document.baseURI);
/** Milliseconds; longer than any answer takes that is not waited for: pausing syncs what a transfer has. */
const patience = 60_000;

let keptToken = sessionStorage.getItem("token");
let askForToken = null;

/** The token of this tab; null where none was asked for. */
export function token() {
  return keptToken;
}

/** Kept in the page's session only: gone when the tab is closed. */
export function keepToken(text) {
  keptToken = text;
  if (text) sessionStorage.setItem("token", text);
  else sessionStorage.removeItem("token");
}

/** @param ask resolves once there is another token; what was refused is then asked again. */
export function onUnauthorized(ask) {
  askForToken = ask;
}

/** An address of the API: `address("jobs", id, "pause")`, each part encoded. */
export function address(...parts) {
  return new URL(parts.map(encodeURIComponent).join("/"), base);
}

/** The same with a query; empty values are left out. */
export function query(url, values) {
  for (const [name, value] of Object.entries(values)) {
    if (value !== "" && value != null) url.searchParams.set(name, value);
  }
  return url;
}

/**
 * A response that may be anything; 401 is answered by asking for the token and trying once more.
 *
 * @param options as of `fetch`; without a `signal`, it is given up when nobody answers for a minute.
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
    // Somebody else may have got another one meanwhile.
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
    // Cut off underway, or no answer of fetchd's at all.
    throw new NoAnswer();
  }
}

export const get = (url) => exchange("GET", url);
export const post = (url, body, headers) => exchange("POST", url, body ?? {}, headers);
export const patch = (url, body) => exchange("PATCH", url, body);
export const remove = (url) => exchange("DELETE", url);
