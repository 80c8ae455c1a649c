// Shows the state of the connection to the service.

import { ServiceUnavailable } from "./client.js";
import { byID, setText } from "./dom.js";
import { announce } from "./notices.js";
import { sentence } from "./problems.js";

/** @typedef {import("./client.js").Connection} Connection */

/** Seconds without an answer after which the page advises the user to check the service. */
const patience = 20;

/** @type {{ kind: "connecting" } | Connection} */
let state = { kind: "connecting" };
/** @type {number | null} */
let brokenSince = null;

/** @param {Connection} next */
export function showConnection(next) {
  const wasBroken = state.kind === "broken";
  if (next.kind === "broken" && !wasBroken) {
    brokenSince = Date.now();
    announce("The connection to fetchd is lost. The page reconnects automatically.");
  }
  if (next.kind !== "broken" && wasBroken) announce("fetchd answers again.");
  state = next;
  tickConnection();
}

/** Updates the texts that depend on the time. */
export function tickConnection() {
  const isBroken = state.kind === "broken";
  byID("connection").dataset.kind = state.kind;
  document.body.classList.toggle("stale", isBroken);
  setText(byID("connection-words"), words());
  byID("connection-retry").hidden = !isBroken;
  const advice = byID("connection-advice");
  advice.hidden = !isBroken;
  setText(advice, isBroken ? adviceWords() : "");
}

function words() {
  switch (state.kind) {
    case "live": return "Live";
    case "polling": return "Live, polling every second";
    case "broken": {
      const seconds = Math.ceil((state.at - Date.now()) / 1000);
      return seconds > 0 ? `Reconnecting in ${seconds} s` : "Reconnecting";
    }
    default: return "Connecting";
  }
}

function adviceWords() {
  if (state.kind !== "broken") return "";
  if (!(state.error instanceof ServiceUnavailable)) return `${sentence(state.error)} The page tries again automatically.`;
  const seconds = (Date.now() - (brokenSince ?? Date.now())) / 1000;
  const stale = "This page shows the last known state.";
  if (seconds < patience) return `${stale} fetchd does not answer. If it is restarting, the page reconnects automatically.`;
  const advice = "Check that it is running (fetchd serve) and that this computer can reach it.";
  return `${stale} fetchd has not answered at ${location.host} for a while. ${advice}`;
}
