// The form that adds downloads: one address, or a list of them.

import { address, post } from "./api.js";
import { byID, closeByButtons, element, setText } from "./dom.js";
import { count, counted } from "./format.js";
import { tell } from "./notices.js";
import { Refusal, sentence } from "./problems.js";

const mostAtOnce = 10_000;

export class AddDialog {
  #dialog = byID("add-dialog");
  #form = byID("add-form");
  #attempt = { body: "", key: "" };
  #on;

  /** @param on {added(jobs)}. */
  constructor(on) {
    this.#on = on;
    closeByButtons(this.#dialog);
    byID("add-open").addEventListener("click", () => this.open());
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#form.addEventListener("input", () => this.#forgive());
    // In a textarea, Enter inserts a line break, so Ctrl+Enter submits the form.
    this.#form.elements.urls.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.#form.requestSubmit();
    });
  }

  open() {
    this.#forgive();
    this.#dialog.showModal();
    this.#form.elements.urls.focus();
  }

  showSessions(sessions, chosen) {
    const select = this.#form.elements.session;
    const before = this.#dialog.open ? select.value : chosen || select.value;
    // A finishing session accepts no more jobs.
    const names = sessions.filter((session) => session.state !== "finishing").map((session) => session.id);
    if (names.join("\n") !== [...select.options].map((option) => option.value).join("\n")) {
      select.replaceChildren(...names.map((id) => element("option", { value: id }, id)));
    }
    select.value = names.includes(before) ? before : "default";
  }

  // MARK: Submitting

  async #submit() {
    const lines = this.#lines();
    if (lines.length === 0) return this.#complain("Enter at least one address.", "urls");
    if (lines.length > mostAtOnce) {
      const words = `You can add at most ${count(mostAtOnce)} addresses at once; these are ${count(lines.length)}.`;
      return this.#complain(words, "urls");
    }
    const submit = this.#form.querySelector("[type=submit]");
    if (submit.getAttribute("aria-busy")) return;
    submit.setAttribute("aria-busy", "true");
    try {
      this.#succeed(await this.#post(lines.map((line) => this.#order(line.text))));
    } catch (error) {
      this.#explain(error, lines);
    }
    submit.removeAttribute("aria-busy");
  }

  /** The lines that are not empty, with their numbers and positions. */
  #lines() {
    const texts = this.#form.elements.urls.value.split("\n");
    let start = 0;
    return texts.flatMap((text, index) => {
      const line = { text: text.trim(), number: index + 1, start, end: start + text.length };
      start += text.length + 1;
      return line.text ? [line] : [];
    });
  }

  #order(url) {
    const { session, directory, filename, connections, algorithm, checksum } = this.#form.elements;
    const destination = { directory: directory.value.trim() || null, filename: filename.value.trim() || null };
    const proof = { algorithm: algorithm.value, value: checksum.value.trim().toLowerCase() };
    return {
      url, session: session.value,
      ...(destination.directory || destination.filename ? { destination } : {}),
      ...(connections.value ? { connections: Number(connections.value) } : {}),
      ...(proof.value ? { checksum: proof } : {}),
    };
  }

  /** If the user repeats a request that got no answer, the idempotency key prevents a second download. */
  async #post(orders) {
    const body = orders.length === 1 ? orders[0] : { jobs: orders };
    const text = JSON.stringify(body);
    if (this.#attempt.body !== text) this.#attempt = { body: text, key: randomKey() };
    const path = orders.length === 1 ? address("jobs") : address("jobs", "batch");
    const answer = await post(path, body, { "Idempotency-Key": this.#attempt.key });
    return answer.jobs ?? [answer];
  }

  #succeed(jobs) {
    this.#attempt = { body: "", key: "" };
    const session = this.#form.elements.session.value;
    this.#form.reset();
    this.#form.elements.session.value = session;
    this.#dialog.close();
    tell(`${counted(jobs.length, "download")} added.`);
    this.#on.added(jobs);
  }

  // MARK: Errors

  /** Shows an error at the field that the problem document points to. For a list, selects the line of the job. */
  #explain(error, lines) {
    const pointer = error instanceof Refusal ? error.pointer : null;
    const [, index, path] = pointer?.match(/^\/jobs\/(\d+)(.*)$/) ?? [null, "0", pointer];
    const field = fields[path] ?? null;
    const line = field === "urls" ? lines[Number(index)] : null;
    const place = line && lines.length > 1 ? `Line ${count(line.number)}: ` : "";
    this.#complain(place + inWords(sentence(error), field), field);
    if (line) this.#form.elements.urls.setSelectionRange(line.start, line.end);
  }

  #complain(text, field) {
    const error = byID("add-error");
    error.hidden = false;
    setText(error, text);
    if (!field) return;
    const control = this.#form.elements[field];
    control.closest("details")?.setAttribute("open", "");
    control.setAttribute("aria-invalid", "true");
    control.setAttribute("aria-describedby", "add-error");
    control.focus();
  }

  #forgive() {
    byID("add-error").hidden = true;
    for (const control of this.#form.elements) control.removeAttribute("aria-invalid");
  }
}

const fields = {
  "/url": "urls", "/session": "session", "/destination/directory": "directory", "/destination/filename": "filename",
  "/connections": "connections", "/checksum": "checksum", "/checksum/value": "checksum",
  "/checksum/algorithm": "algorithm",
};

const fieldNames = {
  urls: "The address", session: "The session", directory: "The folder", filename: "The file name",
  connections: "The number of connections", checksum: "The checksum", algorithm: "The checksum algorithm",
};

/** Replaces the name of a member in a problem document, such as `jobs.1.url`, with the name of the form's field. */
function inWords(text, field) {
  return field ? text.replace(/^`[^`]+`/, fieldNames[field]) : text;
}

/** `crypto.randomUUID` is not available over plain HTTP. */
function randomKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
