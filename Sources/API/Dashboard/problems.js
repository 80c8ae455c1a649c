// Errors, in sentences that say what to do next.

import { FetchdError, ServiceUnavailable } from "./client.js";

/**
 * The message for any error.
 * @param {any} error
 */
export function sentence(error) {
  if ([FetchdError, ServiceUnavailable, Mistake].some((kind) => error instanceof kind)) return error.message;
  return `This page has a bug (${error.message}). Reload the page. If that does not help, please report the bug.`;
}

/** The user has made a mistake in a field, and nothing was sent. */
export class Mistake extends Error {
  /** @param {string} message @param {string | null} field */
  constructor(message, field = null) {
    super(message);
    this.field = field;
  }
}
