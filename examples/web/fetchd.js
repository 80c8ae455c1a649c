// The code that both pages share: requests to fetchd, and messages for errors.

/** The service refuses the request, with a reason. */
export class Refusal extends Error {
  constructor({ status, headers }, problem) {
    super(status === 401 ? "The service wants its token: enter it above." : `${problem.title}. ${problem.detail}`);
    // The service is starting, stopping, or has no disk space. Any other request would be refused again.
    this.isPassing = [502, 503, 504].includes(status);
    this.retryAfter = Number(headers.get("Retry-After")) || 0;
  }
}

/** There was no response that the page may read. */
export class NoAnswer extends Error {
  isPassing = true;
}

export class Service {
  /** @param token is sent in a header, never in a URL, because URLs end up in logs. */
  constructor(address, token) {
    this.address = address.replace(/\/+$/, "");
    this.token = token;
  }

  /** Returns the response to a request: {status, headers, document}. A 304 has no document and is not an error. */
  async ask(path, { headers = {}, ...options } = {}) {
    const credentials = this.token ? { Authorization: `Bearer ${this.token}` } : {};
    const url = `${this.address}/v1/${path}`;
    const answer = await exchange(url, { ...options, headers: { ...headers, ...credentials } }).catch(async () => {
      throw new NoAnswer(await this.reasonForSilence());
    });
    if (answer.status === 304 || (answer.isGood && answer.document)) return answer;
    throw new Refusal(answer, answer.document?.detail ? answer.document : noProblem);
  }

  /**
   * A browser does not tell a page whether there was no response or whether the page may not read it. But every page may
   * send a request without reading the response, and the browser says whether there was one.
   */
  async reasonForSilence() {
    const isThere = await fetch(`${this.address}/livez`, { mode: "no-cors" }).then(() => true, () => false);
    const remedy = `fetchd serve --allow-origin ${location.origin}`;
    return isThere
      ? `fetchd runs at ${this.address}, but does not allow this page to use it. Start it with: ${remedy}`
      : `fetchd does not answer at ${this.address}. Is it running, and does it allow this page's origin (${remedy})?`;
  }
}

/** @throws also if the connection is lost before the end of the body. */
async function exchange(url, options) {
  const response = await fetch(url, options);
  const text = await response.text();
  return { status: response.status, isGood: response.ok, headers: response.headers, document: parsed(text) };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const noProblem = { title: "This is not a response of fetchd", detail: "Is the address right?" };

/** Submits a download. If there was no response, the repeated request has the same key and creates no second job. */
export async function download(service, url) {
  if (unanswered?.url !== url) unanswered = { url, key: newKey() };
  const headers = { "Content-Type": "application/json", "Idempotency-Key": unanswered.key };
  const { document } = await service.ask("jobs", { method: "POST", headers, body: JSON.stringify({ url }) });
  unanswered = null;
  return document;
}

let unanswered = null;

/** crypto.randomUUID is available only on https and localhost; crypto.getRandomValues is available everywhere. */
function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Seconds until the next attempt: 1, 2, 4, ..., at most 15; 0.5 without a failure; longer if Retry-After says so. */
export function pauseAfter(failures, error) {
  return Math.max(Math.min(15, 2 ** (failures - 1)), error?.retryAfter ?? 0);
}

export const sleep = (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000));

/** The state of a job, in words. */
export function describe(job) {
  const { bytes_received: had, bytes_expected: of } = job.progress;
  if (job.state === "succeeded") return `Done: ${job.file.path}, ${mib(job.file.size)}`;
  if (job.state === "failed") return `Failed: ${job.failure.message} (${job.failure.code})`;
  return `${job.state}${job.reason ? ` for ${job.reason}` : ""}: ${mib(had)}${of ? ` of ${mib(of)}` : ""}`;
}

/** If the fraction is unknown, the bar has no value, and the browser shows it as indeterminate. */
export function showFraction(bar, fraction) {
  if (fraction == null) bar.removeAttribute("value");
  else bar.value = fraction;
}

const mib = (bytes) => `${(bytes / 1048576).toFixed(1)} MiB`;

/** The form for the address of the service. The URL of the page may contain the address: polling.html?service=... */
export function serviceForm() {
  const [address, token] = ["service", "token"].map((id) => document.getElementById(id));
  address.value = new URLSearchParams(location.search).get("service") ?? "http://127.0.0.1:8080";
  token.value = sessionStorage.getItem("token") ?? "";
  token.addEventListener("change", () => sessionStorage.setItem("token", token.value));
  return { service: () => new Service(address.value, token.value), fields: [address, token] };
}
