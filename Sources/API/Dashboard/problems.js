// What went wrong, as errors whose message is a sentence that says what to do next.

/** The service answered, and said no: a problem document (RFC 9457). */
export class Refusal extends Error {
  constructor(status, problem, retryAfter) {
    super(problem?.detail ?? `fetchd answered ${status} without a reason. Its log may say more.`);
    this.status = status;
    this.kind = problem?.type?.replace("/problems/", "") ?? "";
    this.pointer = problem?.pointer ?? null;
    this.problem = problem;
    /** Seconds, or null. */
    this.retryAfter = retryAfter;
  }
}

/** Nobody answered. */
export class NoAnswer extends Error {
  constructor() {
    super("fetchd does not answer. Check that it is running and that this computer reaches it; then try again.");
  }
}

/** The sentence for whatever was thrown. */
export function sentence(error) {
  if (error instanceof Refusal || error instanceof NoAnswer) return error.message;
  return `This page has made a mistake (${error.message}). Reload it; if that does not help, please report it.`;
}

/** The refusal in an answer that is none of 2xx. */
export async function refusalIn(response) {
  const seconds = Number.parseFloat(response.headers.get("Retry-After") ?? "");
  let problem = null;
  try {
    problem = await response.json();
  } catch {
    // A proxy's error page, say: the status is all there is.
  }
  return new Refusal(response.status, problem, Number.isFinite(seconds) ? seconds : null);
}
