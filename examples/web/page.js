// What both pages share: the form for the service, and the words for a download.

import { Client } from "./fetchd.js";

const [address, token] = ["service", "token"].map((id) => document.getElementById(id));
const alert = document.getElementById("alert");

/** The form for the address of the service. The URL of the page may contain the address: polling.html?service=... */
export function prepareForm(changed = () => {}) {
  address.value = new URLSearchParams(location.search).get("service") ?? "http://127.0.0.1:8080";
  token.value = sessionStorage.getItem("token") ?? "";
  token.addEventListener("change", () => sessionStorage.setItem("token", token.value));
  for (const field of [address, token]) field.addEventListener("change", changed);
}

/** A client for the service of the form. It sends the token in a header, never in a URL, because URLs end up in logs. */
export function client(options) {
  const made = new Client(address.value, { token: token.value, ...options });
  made.authorize = async () => {
    alert.textContent = "The service wants its token: enter it above.";
    await new Promise((resolve) => token.addEventListener("change", resolve, { once: true }));
    made.token = token.value;
  };
  return made;
}

/** The state of a job, in words. */
export function describe({ state, reason, progress, file, failure }) {
  if (state === "succeeded") return `Done: ${file.path}, ${mib(file.size)}`;
  if (state === "failed") return `Failed: ${failure.message} (${failure.code})`;
  const of = progress.bytes_expected ? ` of ${mib(progress.bytes_expected)}` : "";
  return `${state}${reason ? ` for ${reason}` : ""}: ${mib(progress.bytes_received)}${of}`;
}

/** If the fraction is unknown, the bar has no value, and the browser shows it as indeterminate. */
export function showFraction(bar, fraction) {
  if (fraction == null) bar.removeAttribute("value");
  else bar.value = fraction;
}

const mib = (bytes) => `${(bytes / 1048576).toFixed(1)} MiB`;
