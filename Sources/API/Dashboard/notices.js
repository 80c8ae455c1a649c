// Short notices in a corner of the page. Screen readers read them out, a few at a time.

import { byID } from "./dom.js";
import { count } from "./format.js";
import { sentence } from "./problems.js";
import { element, h, render } from "./render.js";

/** Milliseconds after which a notice disappears. A notice of an error stays until the user closes it. */
const stay = 6000;
/** Milliseconds in which texts are collected before they are read out together. */
const breath = 1000;
/** The maximum number of texts that are read out together. */
const mostAtOnce = 3;

/** @type {string[]} */
const waiting = [];
/** @type {ReturnType<typeof setTimeout> | null} */
let timer = null;

/**
 * Shows a notice of success.
 * @param {string} text
 */
export function tell(text) {
  const notice = show(text, "done");
  setTimeout(() => remove(notice), stay);
  announce(text);
}

/**
 * Shows a notice of an error.
 * @param {any} error an error or a sentence.
 */
export function complain(error) {
  const text = typeof error === "string" ? error : sentence(error);
  show(text, "wrong").setAttribute("role", "alert");
}

/**
 * A button that copies a text. null where the page gets no clipboard: it needs HTTPS, or a page of this computer.
 * @param {string} words @param {string} what the noun for the notice.
 * @param {() => string | Promise<string>} textOf returns the text, or a promise of it.
 */
export function copyButton(words, what, textOf) {
  if (!navigator.clipboard) return null;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(await textOf());
      tell(`The ${what} was copied.`);
    } catch (error) {
      complain(error);
    }
  };
  return h("button", { type: "button", class: "small", onclick: copy }, words);
}

/**
 * Reads a text out, without showing it.
 * @param {string} text
 */
export function announce(text) {
  waiting.push(text);
  if (timer === null) timer = setTimeout(readOut, breath);
}

function readOut() {
  timer = null;
  const texts = waiting.splice(0);
  const rest = texts.length - mostAtOnce;
  byID("announcements").textContent =
    rest > 0 ? `${texts.slice(0, mostAtOnce).join(" ")} And ${rest} more.` : texts.join(" ");
}

/**
 * Shows how far a long action is.
 * @param {() => void} stop is called when the user stops it. @returns {{ show: (done: number, all: number, text: string) => void, end: () => void }}
 */
export function showProgress(stop) {
  const words = element("p", {}, "…");
  const bar = element("progress", { value: "0", "aria-label": "Progress of the action" });
  const button = element("button", { type: "button", class: "small", onclick: stop }, "Stop");
  const notice = element("div", { class: "notice under-way" }, element("div", {}, words, bar), button);
  byID("notices").append(notice);
  return {
    show: (done, all, text) => {
      words.textContent = `${count(done)} of ${count(all)} ${text}`;
      bar.value = done / all;
    },
    end: () => remove(notice),
  };
}

/**
 * The focus goes to the next notice, or to the view.
 * @param {Element} notice
 */
function remove(notice) {
  const notices = byID("notices");
  render(notices, [...notices.children].filter((other) => other !== notice));
}

/** @param {string} text @param {string} kind */
function show(text, kind) {
  const close = element("button", { type: "button", class: "small", onclick: () => remove(notice) }, "Dismiss");
  const notice = element("div", { class: `notice ${kind}` }, element("p", {}, text), close);
  byID("notices").append(notice);
  return notice;
}
