// The segments of an unfinished file that are on disk, as a bar.

import { element, setText } from "./dom.js";
import { bytes, count } from "./format.js";

const svg = "http://www.w3.org/2000/svg";

/** A bar that shows which parts of the file are on disk. */
export function rangePlot() {
  const plot = document.createElementNS(svg, "svg");
  plot.setAttribute("viewBox", "0 0 1000 10");
  plot.setAttribute("preserveAspectRatio", "none");
  plot.setAttribute("role", "img");
  return element("figure", { class: "segments", hidden: true }, plot, element("figcaption", { class: "hint" }));
}

/** @param part the resume data; null hides the bar. */
export function showRanges(figure, part) {
  const isPlain = !part?.bytes_expected || part.ranges.length < 2;
  figure.hidden = isPlain;
  if (isPlain) return;
  const [plot, caption] = figure.children;
  const words = `${count(part.ranges.length)} segments on disk, ${bytes(part.bytes_durable)} of ${bytes(part.bytes_expected)}`;
  plot.setAttribute("aria-label", words);
  setText(caption, words);
  plot.replaceChildren(...part.ranges.map(([from, to]) => {
    const bar = document.createElementNS(svg, "rect");
    const scale = 1000 / part.bytes_expected;
    for (const [name, value] of [["x", from * scale], ["width", (to - from) * scale], ["y", 0], ["height",
      10]]) bar.setAttribute(name, value);
    return bar;
  }));
}
