// One download, followed by polling: each request says which version the page has, and is answered with the next one.

import { describe, download, pauseAfter, serviceForm, showFraction, sleep } from "./fetchd.js";

const [form, address, alert, section, bar, status] = ["form", "address", "alert", "download", "bar", "status"].map((id) =>
  document.getElementById(id),
);
const { service } = serviceForm();
/** What is followed now; another download replaces it. */
let current = null;

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    const job = await download(service(), address.value);
    // Survives a reload of the page.
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
      // Whoever is between did not pass the wait on: less often, then.
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

/** At once without a version; else with the next one, or 304 when there is none for half a minute. */
function poll(id, tag) {
  return service().ask(`jobs/${id}`, { headers: tag ? { "If-None-Match": tag, Prefer: "wait=30" } : {} });
}

/** Returns whether the job has come to its end. */
function show(job) {
  section.hidden = false;
  showFraction(bar, job.state === "failed" ? 0 : job.progress.fraction);
  status.textContent = describe(job);
  return job.finished_at !== null;
}
