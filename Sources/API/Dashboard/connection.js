// How the page stands with the service, in words.

import { byID, setText } from "./dom.js";
import { announce } from "./notices.js";
import { NoAnswer, sentence } from "./problems.js";

/** Seconds after which somebody should look. */
const patience = 20;

let state = { kind: "connecting" };
let brokenSince = null;

export function showConnection(next) {
  const wasBroken = state.kind === "broken";
  if (next.kind === "broken" && !wasBroken) {
    brokenSince = Date.now();
    announce("The connection to fetchd is lost. The page tries again by itself.");
  }
  if (next.kind !== "broken" && wasBroken) announce("fetchd answers again.");
  state = next;
  tickConnection();
}

/** What changes by time alone. */
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
    case "polling": return "Live, asking every second";
    case "broken": {
      const seconds = Math.ceil((state.at - Date.now()) / 1000);
      return seconds > 0 ? `Reconnecting in ${seconds} s` : "Reconnecting";
    }
    default: return "Connecting";
  }
}

function adviceWords() {
  if (!(state.error instanceof NoAnswer)) return `${sentence(state.error)} The page tries again by itself.`;
  const seconds = (Date.now() - brokenSince) / 1000;
  const stale = "What you see is as it was.";
  if (seconds < patience) return `${stale} fetchd does not answer; if it is being restarted, the page goes on by itself.`;
  const advice = "Check that it is running (fetchd serve) and that this computer reaches it.";
  return `${stale} fetchd has not answered at ${location.host} for a while. ${advice}`;
}
