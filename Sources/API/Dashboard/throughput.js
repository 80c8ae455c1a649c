// The throughput as a graph and a sentence: of the last five minutes, or of the last hour or week, also before a restart.

import { address, get } from "./api.js";
import { byID, setAttribute, setText } from "./dom.js";
import { duration, speed, time } from "./format.js";
import { rateLimit } from "./limit.js";

/** @typedef {{ interval_seconds: number, bytes_per_second: number[] }} Series */
/** @typedef {{ x: number, rate: number }} Point `x` is a place in the graph. */

/** Milliseconds between two readings of the hour and the week. The service adds to them once a minute. */
const historyPause = 30_000;
const width = 300;
/** The graph shows the limit, unless it is so many times as high as the throughput. */
const farAbove = 4;

/**
 * `span` in seconds.
 * @type {Record<string, { span: number, start: string, middle: string }>}
 */
const periods = {
  minutes: { span: 300, start: "5 minutes ago", middle: "2 min 30 s ago" },
  hour: { span: 3600, start: "1 hour ago", middle: "30 minutes ago" },
  week: { span: 604_800, start: "7 days ago", middle: "3 days 12 hours ago" },
};

let period = "minutes";
/** @type {{ throughput?: Series, bytes_per_second: number } | null} */
let stats = null;
/** @type {Record<string, Series> | null} */
let history = null;
let readAt = 0;
/** @type {Point[]} */
let points = [];

export function prepareThroughput() {
  const toggle = byID("plot-toggle");
  toggle.addEventListener("click", () => {
    const isOpen = byID("plot-figure").toggleAttribute("hidden");
    setAttribute(toggle, "aria-expanded", !isOpen);
  });
  byID("plot-period").addEventListener("change", async (/** @type {Event} */ event) => {
    period = /** @type {HTMLInputElement} */ (event.target).value;
    setText(byID("plot-start"), periods[period].start);
    setText(byID("plot-middle"), periods[period].middle);
    try {
      await keepHistory();
      show();
    } catch {
      // The feed reports the error, and the next statistics read the history again.
    }
  });
  byID("plot-area").addEventListener("pointermove", (/** @type {PointerEvent} */ event) => point(event));
  byID("plot-area").addEventListener("pointerleave", () => {
    byID("plot-at").hidden = true;
    setAttribute(byID("plot-cursor"), "d", null);
  });
}

/** @param {{ throughput?: Series, bytes_per_second: number }} now `GET /v1/stats`. */
export async function showThroughput(now) {
  stats = now;
  await keepHistory();
  show();
}

async function keepHistory() {
  if (period === "minutes" || Date.now() - readAt < historyPause) return;
  history = await get(address("throughput"));
  readAt = Date.now();
}

function show() {
  const series = period === "minutes" ? stats?.throughput : history?.[period];
  if (!stats || (period !== "minutes" && !history)) return;
  draw(series ?? { interval_seconds: 1, bytes_per_second: [] }, stats.bytes_per_second, periods[period].span);
}

/** @param {Series} series @param {number} now @param {number} span */
function draw({ interval_seconds: interval, bytes_per_second: rates }, now, span) {
  const highest = Math.max(1024, now, ...rates);
  const limit = rateLimit();
  const isLimitShown = limit !== null && limit <= farAbove * highest;
  const top = roundUp(isLimitShown ? Math.max(highest, limit) : highest);
  points = rates.map((rate, index) => ({ x: ((span - (rates.length - index - 0.5) * interval) / span) * width, rate }));
  // Over a week, the present rate says nothing about the last hour.
  points.push({ x: width, rate: period === "week" ? (rates.at(-1) ?? 0) : now });
  const height = (/** @type {number} */ rate) => (100 - (rate / top) * 98).toFixed(2);
  const line = points.map(({ x, rate }) => `${x.toFixed(1)} ${height(rate)}`).join("L");
  setAttribute(byID("plot-line"), "d", `M${line}`);
  setAttribute(byID("spark-line"), "d", `M${line}`);
  setAttribute(byID("plot-fill"), "d", `M${points[0].x.toFixed(1)} 100L${line}L${width} 100Z`);
  setAttribute(byID("plot-limit"), "d", isLimitShown ? `M0 ${height(limit)}H${width}` : null);
  setText(byID("plot-now"), speed(now));
  setText(byID("plot-top"), speed(top));
  setText(byID("plot-half"), speed(top / 2));
  const limitWords = isLimitShown ? ` The dashed line is the limit, ${speed(limit)}.` : "";
  setText(byID("plot-words"), words(now, rates, interval) + limitWords);
}

/**
 * Says the throughput at the place of the pointer.
 * @param {PointerEvent} event
 */
function point({ clientX }) {
  const { left, width: wide } = byID("plot-area").getBoundingClientRect();
  const x = ((clientX - left) / wide) * width;
  const nearest = points.reduce((best, each) => (Math.abs(each.x - x) < Math.abs(best.x - x) ? each : best), points[0]);
  if (!nearest) return;
  const at = new Date(Date.now() - (1 - nearest.x / width) * periods[period].span * 1000);
  const note = byID("plot-at");
  note.hidden = false;
  setText(note, `${time(at.toISOString())}: ${speed(nearest.rate)}`);
  note.style.left = `${(nearest.x / width) * 100}%`;
  note.classList.toggle("plot-at-end", nearest.x > width / 2);
  setAttribute(byID("plot-cursor"), "d", `M${nearest.x.toFixed(1)} 0V100`);
}

/**
 * Rounds up to 1, 2, 5, 10, ... 500 of a binary unit, for a readable scale.
 * @param {number} value
 */
function roundUp(value) {
  const unit = 1024 ** Math.floor(Math.log(value) / Math.log(1024));
  const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1024].map((step) => step * unit);
  return steps.find((step) => step >= value) ?? value;
}

/** @param {number} now @param {number[]} rates @param {number} interval */
function words(now, rates, interval) {
  if (rates.length === 0) return `Now ${speed(now)}.`;
  const average = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  const span = duration(rates.length * interval);
  const highest = period === "week" ? Math.max(...rates) : Math.max(now, ...rates);
  return `Now ${speed(now)}; highest ${speed(highest)}, average ${speed(average)} in the last ${span}.`;
}
