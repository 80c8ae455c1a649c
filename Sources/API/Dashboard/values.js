// Values that people type: rates, lists and headers.

import { Mistake } from "./problems.js";

const units = ["", "k", "m", "g", "t"];

/**
 * A rate in bytes per second, or null for none, from `2 MiB/s`, `500k` or `0`. As in options, K is 1,000 and Ki is 1,024.
 * @param {string} text @param {string} field
 */
export function readRate(text, field) {
  const match = text.trim().match(/^(.*?)(?:\/s|ps)?$/i);
  const rate = bytesIn(match?.[1] ?? "");
  return rate === null ? mistake("Write a rate as a number with a unit, such as 500 KiB/s or 2 MiB/s.", field) : rate || null;
}

/**
 * As `readRate` reads it, without a loss; empty for none.
 * @param {number | null} rate
 */
export function rateText(rate) {
  return rate ? `${sizeText(rate)}/s` : "";
}

/**
 * Bytes, or null for none, from `2 GiB` or `0`.
 * @param {string} text @param {string} field
 */
export function readSize(text, field) {
  return bytesIn(text) ?? mistake("Write a size as a number with a unit, such as 500 MiB or 2 GiB.", field);
}

/**
 * As `readSize` reads it, without a loss.
 * @param {number} size
 */
export function sizeText(size) {
  /** @type {[string, number][]} */
  const binary = [["TiB", 1024 ** 4], ["GiB", 1024 ** 3], ["MiB", 1024 ** 2], ["KiB", 1024]];
  /** @type {[string, number][]} */
  const decimal = [["GB", 1000 ** 3], ["MB", 1000 ** 2], ["kB", 1000]];
  const whole = binary.find(([, each]) => size > 0 && size % each === 0);
  const [unit, factor] = whole ?? decimal.find(([, each]) => size >= each) ?? ["B", 1];
  return `${size / factor} ${unit}`;
}

/** @param {string} text */
function bytesIn(text) {
  const match = text.trim().toLowerCase().match(/^(\d+(?:[.,]\d+)?)\s*(?:([kmgt])(i?))?b?$/);
  if (!match) return null;
  const factor = (match[3] ? 1024 : 1000) ** units.indexOf(match[2] ?? "");
  return Math.round(Number(match[1].replace(",", ".")) * factor);
}

/** @type {[string, number][]} */
const spans = [["day", 86_400], ["hour", 3600], ["minute", 60], ["second", 1]];

/**
 * Seconds from `30 days`, `12 h` or `90`.
 * @param {string} text @param {string} field
 */
export function readDuration(text, field) {
  const match = text.trim().toLowerCase().match(/^(\d+(?:[.,]\d+)?)\s*([a-z]*)$/);
  const span = match && (match[2] === "" ? 1 : spans.find(([name]) => [name, `${name}s`, name[0], name.slice(0, 3)].includes(match[2]))?.[1]);
  if (!span) return mistake("Write a duration as a number with a unit, such as 30 days or 12 hours.", field);
  return Math.round(Number(match[1].replace(",", ".")) * span);
}

/**
 * As `readDuration` reads it, without a loss.
 * @param {number} seconds
 */
export function durationText(seconds) {
  const [name, span] = spans.find(([, each]) => seconds > 0 && seconds % each === 0) ?? spans[spans.length - 1];
  return `${seconds / span} ${name}${seconds === span ? "" : "s"}`;
}

/** @param {string} words @param {string} field */
function mistake(words, field) {
  throw new Mistake(words, field);
}

/**
 * The entries of a list that is separated by commas or lines.
 * @param {string} text
 */
export function readList(text) {
  return text.split(/[,\n]/).map((entry) => entry.trim()).filter(Boolean);
}

/**
 * Headers, one `Name: value` in a line.
 * @param {string} text @param {string} field
 */
export function readHeaders(text, field) {
  /** @type {Record<string, string>} */
  const headers = {};
  for (const line of text.split("\n").map((each) => each.trim()).filter(Boolean)) {
    const colon = line.indexOf(":");
    if (colon < 1) throw new Mistake(`Write a header as “Name: value”, not “${line.slice(0, 60)}”.`, field);
    headers[line.slice(0, colon).trim()] = line.slice(colon + 1).trim();
  }
  return headers;
}

/** @param {Record<string, string>} headers */
export function headersText(headers) {
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`).join("\n");
}
