// Says that a batch has finished: in a quiet line above the list, and, to a user who has asked for it and looks elsewhere, by a
// notification when the last download has ended.

import { byID } from "./dom.js";
import { count } from "./format.js";
import { complain, tell } from "./notices.js";
import { h, render } from "./render.js";

let wasBusy = false;

/** @param {number} left the number of downloads that have not ended. */
export function noteLeft(left) {
  const hasEnded = wasBusy && left === 0;
  wasBusy = left > 0;
  if (!hasEnded || !document.hidden || globalThis.Notification?.permission !== "granted") return;
  new Notification("All downloads have ended", { tag: "fetchd" });
}

/** @param {ServiceEvent | null} event a `session.finished`; null takes the line away, because there is more to do. */
export function showFinished(event) {
  const line = byID("finished");
  line.hidden = !event;
  if (!event) return;
  const { session, data: { batch, counts } } = event;
  const named = [[counts.succeeded, "done"], [counts.failed, "failed"], [counts.cancelled, "cancelled"]];
  const words = named.filter(([number]) => number > 0).map(([number, name]) => `${count(number)} ${name}`).join(", ");
  render(line, `Batch ${count(batch)} of `, h("a", { href: `#/sessions/${session}` }, session), ` has finished${words && `: ${words}`}.`);
}

/** Whether the browser can ask the user: it needs HTTPS, or a page of this computer. */
export function canNotify() {
  return globalThis.Notification?.permission === "default" && globalThis.isSecureContext;
}

export async function askToNotify() {
  const answer = await Notification.requestPermission();
  if (answer === "granted") tell("The browser tells you when the last download has ended.");
  else complain("The browser does not allow notifications of this page.");
}
