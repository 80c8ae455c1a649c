// Follows one download. The module polls: each request has the version that the page shows, and returns the next version.

import { ServiceUnavailable } from "./fetchd.js";
import { client, describe, prepareForm, showFraction } from "./page.js";

const [form, address, alert, section, bar, status] = ["form", "address", "alert", "download", "bar", "status"].map((id) =>
  document.getElementById(id),
);
/** Ends the following of a download that another one replaces. */
let current = new AbortController();

prepareForm();
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const job = await client().add(address.value);
    // Keeps the job when the page is reloaded.
    location.hash = job.id;
    follow(job.id);
  } catch (error) {
    alert.textContent = error.message;
  }
});
if (location.hash.startsWith("#job_")) follow(location.hash.slice(1));

async function follow(id) {
  current.abort();
  const { signal } = (current = new AbortController());
  try {
    // The user sees at once that the service does not answer, so no request waits for it.
    for await (const job of client({ patience: 0 }).watch(id, { signal })) show(job.document);
  } catch (error) {
    if (signal.aborted) return;
    alert.textContent = error.message;
    if (error instanceof ServiceUnavailable || error.status >= 500) setTimeout(() => signal.aborted || follow(id), 1000);
  }
}

function show(job) {
  alert.textContent = "";
  section.hidden = false;
  showFraction(bar, job.state === "failed" ? 0 : job.progress.fraction);
  status.textContent = describe(job);
}
