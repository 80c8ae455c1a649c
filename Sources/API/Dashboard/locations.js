// The places where files can go: their choice in forms, and their state below the settings.

import { address, get } from "./api.js";
import { byID } from "./dom.js";
import { bytes, counted } from "./format.js";
import { element, h, render } from "./render.js";

/** @type {{ name: string, healthy: boolean, why: string | null, free_bytes: number | null, waiting: number, path?: string, bucket?: string }[]} */
let locations = [];

/** Nothing is shown of a service that does not answer: the connection says so. */
export async function readLocations() {
  try {
    ({ locations } = await get(address("locations")));
  } catch {
    locations = [];
  }
  showLocations();
  offerLocations();
}

/** @param {string} location */
export function locationWords(location) {
  return location === "default" ? "the downloads folder" : location;
}

/**
 * The field of a form that chooses a location; none if there is only one.
 * @returns {Field[]}
 */
export function locationFields() {
  if (locations.length < 2) return [];
  const options = Object.fromEntries(locations.map(({ name }) => [name, locationWords(name)]));
  return [{ name: "location", label: "Location", options, at: ["destination", "location"], pointer: "/destination/location" }];
}

/** The choice in the form of new downloads. */
function offerLocations() {
  const select = byID("add-location");
  byID("add-location-label").hidden = locations.length < 2;
  const chosen = select.value;
  const names = locations.map(({ name }) => element("option", { value: name }, locationWords(name)));
  select.replaceChildren(element("option", { value: "" }, "the session's"), ...names);
  select.value = locations.some(({ name }) => name === chosen) ? chosen : "";
}

function showLocations() {
  byID("locations").hidden = locations.length < 2 && locations.every(({ healthy }) => healthy);
  render(byID("location-list"), locations.map((location) => h(
    "li", { class: "location", key: location.name, "data-health": location.healthy ? "well" : "failing" },
    h("span", {}, location.name), " ", h("span", { class: "state" }, stateWords(location)), " ",
    h("span", { class: "muted" }, location.why ?? location.path ?? location.bucket ?? ""))));
}

/** @param {(typeof locations)[number]} location */
function stateWords({ healthy, free_bytes: free, waiting }) {
  const words = [healthy ? "works" : "does not work", free === null ? null : `${bytes(free)} free`];
  if (waiting > 0) words.push(counted(waiting, "download waits", "downloads wait"));
  return words.filter(Boolean).join(", ");
}
