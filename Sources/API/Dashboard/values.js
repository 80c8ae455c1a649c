// Values that people type: rates, lists and headers.

import { speed } from "./format.js";
import { Mistake } from "./problems.js";

const units = ["", "k", "m", "g", "t"];

/** A rate in bytes per second, or null for none, from `2 MiB/s`, `500k` or `0`. As in options, K is 1,000 and Ki is 1,024. */
export function readRate(text, field) {
  const match = text.trim().toLowerCase().match(/^(\d+(?:[.,]\d+)?)\s*(?:([kmgt])(i?))?b?(?:\/s|ps)?$/);
  if (!match) throw new Mistake("Write a rate as a number with a unit, such as 500 KiB/s or 2 MiB/s.", field);
  const factor = (match[3] ? 1024 : 1000) ** units.indexOf(match[2] ?? "");
  return Math.round(Number(match[1].replace(",", ".")) * factor) || null;
}

/** As `readRate` reads it, without a loss; empty for none. */
export function rateText(rate) {
  if (!rate) return "";
  for (const [unit, factor] of [["GiB", 1024 ** 3], ["MiB", 1024 ** 2], ["KiB", 1024]]) {
    if (rate % factor === 0) return `${rate / factor} ${unit}/s`;
  }
  for (const [unit, factor] of [["MB", 1000 ** 2], ["kB", 1000]]) if (rate >= factor) return `${rate / factor} ${unit}/s`;
  return speed(rate);
}

/** The entries of a list that is separated by commas or lines. */
export function readList(text) {
  return text.split(/[,\n]/).map((entry) => entry.trim()).filter(Boolean);
}

/** Headers, one `Name: value` in a line. */
export function readHeaders(text, field) {
  const headers = {};
  for (const line of text.split("\n").map((each) => each.trim()).filter(Boolean)) {
    const colon = line.indexOf(":");
    if (colon < 1) throw new Mistake(`Write a header as “Name: value”, not “${line.slice(0, 60)}”.`, field);
    headers[line.slice(0, colon).trim()] = line.slice(colon + 1).trim();
  }
  return headers;
}

export function headersText(headers) {
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`).join("\n");
}
