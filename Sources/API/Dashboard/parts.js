// Descriptions of what several views have.

import { h, icon } from "./render.js";

/**
 * A bar for a progress.
 *
 * @param {number | null} fraction from 0 to 1, or null if it is unknown. @param {string} label @param {string} [kind] further classes.
 */
export function meter(fraction, label, kind = "") {
  const value = fraction == null ? null : Math.round(fraction * 1000) / 10;
  return h(
    "div", { class: `meter ${kind}`, role: "progressbar", "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": value, "aria-label": label },
    // A transform moves without a layout of the page.
    h("i", { style: { transform: `scaleX(${fraction ?? 1})` } }));
}

/**
 * A button that shows an icon, and says its words with what they apply to.
 *
 * @param {string} words @param {string} picture @param {string} of @param {Record<string, any>} attributes
 */
export function iconButton(words, picture, of, { class: kind = "", ...attributes }) {
  return h(
    "button", { type: "button", class: `icon-button ${kind}`, title: words, "aria-label": `${words} ${of}`, ...attributes },
    icon(picture));
}

/**
 * A list of terms and values under a heading; null if nothing is known.
 * @param {string} heading @param {Fact[]} facts
 */
export function factList(heading, facts) {
  const there = facts.filter(([, value]) => value != null && value !== "");
  if (there.length === 0) return null;
  const pairs = there.map(([term, value]) => h("div", { key: term }, h("dt", {}, term), h("dd", {}, value)));
  return h("section", { key: heading }, h("h3", {}, heading), h("dl", {}, pairs));
}

/**
 * A cell of a table.
 * @param {Record<string, any>} attributes @param {...Child} children
 */
export function cell(attributes, ...children) {
  return h("td", { role: "cell", ...attributes }, ...children);
}
