// The throughput as a graph and a sentence: of the last five minutes, or of the last hour or week, also before a restart.

import { address, get } from "./api.js";
import { byID, setText } from "./dom.js";
import { duration, speed } from "./format.js";

/** Milliseconds between two readings of the hour and the week. The service adds to them once a minute. */
const historyPause = 30_000;
const width = 300;

const periods = {
  minutes: { span: 300, start: "5 minutes ago" },
  hour: { span: 3600, start: "1 hour ago" },
  week: { span: 604_800, start: "7 days ago" },
};

let period = "minutes";
let stats = null;
let history = null;
let readAt = 0;

export function prepareThroughput() {
  const toggle = byID("plot-toggle");
  toggle.addEventListener("click", () => {
    const isOpen = byID("plot-figure").toggleAttribute("hidden");
    toggle.setAttribute("aria-expanded", String(!isOpen));
  });
  byID("plot-period").addEventListener("change", async (event) => {
    period = event.target.value;
    setText(byID("plot-start"), periods[period].start);
    try {
      await keepHistory();
      show();
    } catch {
      // The feed reports the error, and the next statistics read the history again.
    }
  });
}

/** @param now `GET /v1/stats`. */
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

function draw({ interval_seconds: interval, bytes_per_second: rates }, now, span) {
  const top = roundUp(Math.max(1024, now, ...rates));
  const place = (index) => ((span - (rates.length - index - 0.5) * interval) / span) * width;
  // Over a week, the present rate says nothing about the last hour.
  const points = rates.map((rate, index) => [place(index), rate]);
  points.push([width, period === "week" ? (rates.at(-1) ?? 0) : now]);
  const line = points.map(([x, rate]) => `${x.toFixed(1)} ${(100 - (rate / top) * 98).toFixed(2)}`).join("L");
  byID("plot-line").setAttribute("d", `M${line}`);
  byID("spark-line").setAttribute("d", `M${line}`);
  setText(byID("plot-now"), speed(now));
  byID("plot-fill").setAttribute("d", `M${points[0][0].toFixed(1)} 100L${line}L${width} 100Z`);
  setText(byID("plot-top"), speed(top));
  setText(byID("plot-words"), words(now, rates, interval));
}

/** Rounds up to 1, 2, 5, 10, ... 500 of a binary unit, for a readable scale. */
function roundUp(value) {
  const unit = 1024 ** Math.floor(Math.log(value) / Math.log(1024));
  return [1, 2, 5, 10, 20, 50, 100, 200, 500, 1024].map((step) => step * unit).find((step) => step >= value);
}

function words(now, rates, interval) {
  if (rates.length === 0) return `Now ${speed(now)}.`;
  const average = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
  const time = duration(rates.length * interval);
  const highest = period === "week" ? Math.max(...rates) : Math.max(now, ...rates);
  return `Now ${speed(now)}; highest ${speed(highest)}, average ${speed(average)} in the last ${time}.`;
}
