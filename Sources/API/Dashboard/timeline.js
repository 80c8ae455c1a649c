// What has happened to a download: its events, and below each of them its deliveries to webhooks.

import { bytes, counted, fullTime, time } from "./format.js";
import { cell } from "./parts.js";
import { h } from "./render.js";
import { deliveryStates, eventWords, failureSentence, restartReasons } from "./words.js";

/** @param {ServiceEvent[]} events @param {Delivery[]} deliveries */
export function timeline(events, deliveries) {
  const heads = ["Time", "Event", "Details"].map((text) => h("th", { scope: "col", role: "columnheader" }, text));
  return h("section", { key: "timeline" },
    h("h3", { id: "job-events" }, "Events and deliveries"),
    h("table", { class: "events", role: "table", "aria-labelledby": "job-events" },
      h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, heads)),
      h("tbody", { role: "rowgroup" }, events.flatMap((event) => [
        eventRow(event), ...deliveries.filter((delivery) => delivery.event === event.id).map(deliveryRow),
      ]))));
}

/** @param {ServiceEvent} event */
function eventRow(event) {
  return h("tr", { key: event.id, role: "row" },
    cell({ class: "number", title: fullTime(event.time) }, time(event.time)), cell({}, eventWords(event.type)), cell({}, eventNote(event)));
}

/** @param {Delivery} delivery */
function deliveryRow({ id, session, webhook, state, attempts }) {
  const last = attempts.at(-1);
  return h("tr", { key: id, role: "row", class: "events-delivery" },
    cell({ class: "number", title: last ? fullTime(last.at) : null }, last ? time(last.at) : ""),
    cell({ "data-state": state }, h("span", { class: "state" }, deliveryStates[state])),
    cell({}, "To the webhook ", h("a", { href: `#/webhooks/${session}/${webhook}` }, webhook), `, ${counted(attempts.length, "attempt")}.`));
}

/** @param {ServiceEvent} event @returns {string} */
function eventNote({ type, data }) {
  switch (type) {
    case "job.started": return `Attempt ${data.attempt}`;
    case "job.resumed": return `From ${bytes(data.offset)}${data.bytes_expected ? ` of ${bytes(data.bytes_expected)}` : ""}`;
    case "job.restarted": return restartReasons[data.why] ?? data.why;
    case "job.waiting": return `${data.failure.message}${data.retry_at ? ` Next attempt at ${time(data.retry_at)}.` : ""}`;
    case "job.paused": return `${bytes(data.bytes_durable)} kept`;
    case "job.failed": return failureSentence(data.snapshot.failure);
    case "job.succeeded": return `${bytes(data.snapshot.file.size)} in ${data.snapshot.file.path}`;
    default: return "";
  }
}
