// Errors whose message is a sentence that says what to do next.

/** The service has refused the request, with a problem document (RFC 9457). */
export class Refusal extends Error {
  constructor(status, problem, retryAfter) {
    super(problem?.detail ?? `fetchd answered ${status} without a reason. See the log of fetchd.`);
    this.status = status;
    this.kind = problem?.type?.replace("/problems/", "") ?? "";
    this.pointer = problem?.pointer ?? null;
    this.problem = problem;
    /** Seconds, or null. */
    this.retryAfter = retryAfter;
  }
}

/** The service did not answer. */
export class NoAnswer extends Error {
  constructor() {
    super("fetchd does not answer. Check that it is running and that this computer can reach it, and try again.");
  }
}

/** The message for any error. */
export function sentence(error) {
  if (error instanceof Refusal || error instanceof NoAnswer || error instanceof Mistake) return error.message;
  return `This page has a bug (${error.message}). Reload the page. If that does not help, please report the bug.`;
}

/** The refusal in a response with a status other than 2xx. */
export async function refusalIn(response) {
  const seconds = Number.parseFloat(response.headers.get("Retry-After") ?? "");
  let problem = null;
  try {
    problem = await response.json();
  } catch {
    // The body is not a problem document (for example the error page of a proxy). Only the status is known.
  }
  return new Refusal(response.status, problem, Number.isFinite(seconds) ? seconds : null);
}

/** The user has made a mistake in a field, and nothing was sent. */
export class Mistake extends Error {
  constructor(message, field = null) {
    super(message);
    this.field = field;
  }
}
