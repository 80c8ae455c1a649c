// The segments of an unfinished file that are on disk, as a bar.

import { bytes, count } from "./format.js";
import { h } from "./render.js";

/**
 * A bar that shows which parts of the file are on disk; null if there is only one.
 * @param {Job | null} part the resume data.
 */
export function rangePlot(part) {
  if (!part?.bytes_expected || part.ranges.length < 2) return null;
  const words = `${count(part.ranges.length)} segments on disk, ${bytes(part.bytes_durable)} of ${bytes(part.bytes_expected)}`;
  const scale = 1000 / part.bytes_expected;
  return h("figure", { class: "segments" },
    h("svg", { viewBox: "0 0 1000 10", preserveAspectRatio: "none", role: "img", "aria-label": words },
      part.ranges.map((/** @type {[number, number]} */ [from, to]) => (
        h("rect", { x: from * scale, width: (to - from) * scale, y: 0, height: 10 })))),
    h("figcaption", { class: "hint" }, words));
}
