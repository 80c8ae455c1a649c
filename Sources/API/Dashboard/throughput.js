// The throughput of the last five minutes, as the service has measured it: a graph and a sentence.

import { byID, setText } from "./dom.js";
import { duration, speed } from "./format.js";

/** Seconds. */
const span = 300;

/**
 * @param stats `GET /v1/stats`: the present rate, and the rate in each interval of the last five minutes, the oldest first.
 */
export function showThroughput({ bytes_per_second: now, throughput }) {
  const { interval_seconds: interval, bytes_per_second: rates } = throughput ?? { interval_seconds: 0, bytes_per_second: [] };
  const top = roundUp(Math.max(1024, now, ...rates));
  const middle = (index) => span - (rates.length - index - 0.5) * interval;
  const points = [...rates.map((rate, index) => [middle(index), rate]), [span, now]];
  const line = points.map(([x, rate]) => `${x.toFixed(1)} ${(100 - (rate / top) * 98).toFixed(2)}`).join("L");
  byID("plot-line").setAttribute("d", `M${line}`);
  byID("plot-fill").setAttribute("d", `M${points[0][0].toFixed(1)} 100L${line}L${span} 100Z`);
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
  return `Now ${speed(now)}; highest ${speed(Math.max(now, ...rates))}, average ${speed(average)} in the last ${time}.`;
}
