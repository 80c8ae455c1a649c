// Texts about the attempts of deliveries.

import { counted, exactDuration, percent } from "./format.js";

/**
 * The response of the endpoint, or the reason why there was none.
 * @param {Attempt} attempt
 */
export function answerWords(attempt) {
  if (attempt.error === null) return `accepted with ${attempt.status}`;
  return attempt.error.replace(/\.$/, "");
}

/** @typedef {{ delivery: Delivery, attempt: Attempt }} Last */

/**
 * The latest attempt of these deliveries, with its delivery; null if there was none.
 * @param {Delivery[]} deliveries @returns {Last | null}
 */
export function lastAttempt(deliveries) {
  const attempts = deliveries.flatMap((delivery) => delivery.attempts.map((/** @type {Attempt} */ attempt) => ({ delivery, attempt })));
  return attempts.reduce((last, one) => (last && last.attempt.at >= one.attempt.at ? last : one), null);
}

/**
 * The last 24 hours of a webhook.
 * @param {Record<string, number>} it
 */
export function statisticsWords({ attempts, success_rate: rate, median_latency_seconds: median, p95_latency_seconds: p95 }) {
  if (attempts === 0) return "No attempts in the last 24 hours.";
  return `${counted(attempts, "attempt")} in the last 24 hours: ${percent(rate)} accepted, ` +
    `half within ${exactDuration(median)}, 95% within ${exactDuration(p95)}.`;
}
