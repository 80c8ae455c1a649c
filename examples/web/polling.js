// Follows one download by polling: each request has the version that the page shows, and returns the next version.

import { describe, download, pauseAfter, serviceForm, showFraction, sleep } from "./fetchd.js";

const [form, address, alert, section, bar, status] = ["form", "address", "alert", "download", "bar", "status"].map((id) =>
  document.getElementById(id),
);
const { service } = serviceForm();
/** The job that the page follows; another download replaces it. */
let current = null;

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const job = await download(service(), address.value);
    // Keeps the job when the page is reloaded.
    location.hash = job.id;
    follow(job.id);
  } catch (error) {
    alert.textContent = error.message;
  }
});

if (location.hash.startsWith("#job_")) follow(location.hash.slice(1));

async function follow(id) {
  current = id;
  let [tag, failures, idle] = [null, 0, 0];
  while (current === id) {
    try {
      const answer = await poll(id, tag);
      if (current !== id) return;
      failures = 0;
      alert.textContent = "";
      idle = answer.status === 304 && !answer.headers.has("Preference-Applied") ? idle + 1 : 0;
      // A proxy did not pass the wait on, so poll less often.
      if (idle > 0) await sleep(pauseAfter(idle));
      if (answer.status === 304) continue;
      tag = answer.headers.get("ETag");
      if (show(answer.document)) return;
    } catch (error) {
      alert.textContent = error.message;
      if (!error.isPassing) return;
      failures += 1;
      const pause = pauseAfter(failures, error);
      alert.textContent += ` Trying again in ${pause} s.`;
      await sleep(pause);
    }
  }
}

/** Answered at once without a version; otherwise with the next version, or with 304 after half a minute. */
function poll(id, tag) {
  return service().ask(`jobs/${id}`, { headers: tag ? { "If-None-Match": tag, Prefer: "wait=30" } : {} });
}

/** Returns whether the job has ended. */
function show(job) {
  section.hidden = false;
  showFraction(bar, job.state === "failed" ? 0 : job.progress.fraction);
  status.textContent = describe(job);
  return job.finished_at !== null;
}
