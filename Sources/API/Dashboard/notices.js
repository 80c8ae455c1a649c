// Short notices: seen in a corner, and read out by screen readers, which are not told everything at once.

import { byID, element } from "./dom.js";
import { sentence } from "./problems.js";

/** Milliseconds that a notice stays; one of an error stays until it is closed. */
const stay = 6000;
/** Milliseconds in which what is to be read out is gathered. */
const breath = 1000;
/** More than so many at once are not read out one by one. */
const mostAtOnce = 3;

const waiting = [];
let timer = null;

/** Something that was done. */
export function tell(text) {
  const notice = show(text, "done");
  setTimeout(() => notice.remove(), stay);
  announce(text);
}

/** Something that went wrong: an error, or a sentence. */
export function complain(error) {
  const text = typeof error === "string" ? error : sentence(error);
  show(text, "wrong").setAttribute("role", "alert");
}

/** Only for those who hear the page. */
export function announce(text) {
  waiting.push(text);
  timer ??= setTimeout(readOut, breath);
}

function readOut() {
  timer = null;
  const texts = waiting.splice(0);
  const rest = texts.length - mostAtOnce;
  byID("announcements").textContent =
    rest > 0 ? `${texts.slice(0, mostAtOnce).join(" ")} And ${rest} more.` : texts.join(" ");
}

function show(text, kind) {
  const close = element("button", { type: "button", class: "small", onclick: () => notice.remove() }, "Dismiss");
  const notice = element("div", { class: `notice ${kind}` }, element("p", {}, text), close);
  byID("notices").append(notice);
  return notice;
}
