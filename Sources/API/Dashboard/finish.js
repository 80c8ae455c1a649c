// Says that the last download has ended, to a user who has asked for it and looks elsewhere.

import { complain, tell } from "./notices.js";

let wasBusy = false;

/** @param left the number of downloads that have not ended. */
export function noteLeft(left) {
  const hasEnded = wasBusy && left === 0;
  wasBusy = left > 0;
  if (!hasEnded || !document.hidden || globalThis.Notification?.permission !== "granted") return;
  new Notification("All downloads have ended", { tag: "fetchd" });
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
