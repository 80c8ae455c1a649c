// Texts about the attempts of a delivery.

/** The response of the endpoint, or the reason why there was none. */
export function answerWords(attempt) {
  if (attempt.error === null) return `accepted with ${attempt.status}`;
  return attempt.error.replace(/\.$/, "");
}

/** The latest attempt of these deliveries, with its delivery; null if there was none. */
export function lastAttempt(deliveries) {
  const attempts = deliveries.flatMap((delivery) => delivery.attempts.map((attempt) => ({ delivery, attempt })));
  return attempts.reduce((last, one) => (last && last.attempt.at >= one.attempt.at ? last : one), null);
}
