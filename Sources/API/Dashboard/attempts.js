// Attempts at a delivery, in words.

/** What the endpoint answered, or why it did not. */
export function answerWords(attempt) {
  if (attempt.error === null) return `accepted with ${attempt.status}`;
  return attempt.error.replace(/\.$/, "");
}

/** The latest attempt at any of these deliveries, with its delivery; null when there was none. */
export function lastAttempt(deliveries) {
  const attempts = deliveries.flatMap((delivery) => delivery.attempts.map((attempt) => ({ delivery, attempt })));
  return attempts.reduce((last, one) => (last && last.attempt.at >= one.attempt.at ? last : one), null);
}
