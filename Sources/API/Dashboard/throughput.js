// The throughput: one sample per second, shown as a graph of the last five minutes and as a sentence.

import { byID, setText } from "./dom.js";
import { speed } from "./format.js";

/** Seconds. */
const span = 300;

/** {at: seconds, value: bytes per second}. Seconds without a measurement have no sample and leave a gap. */
let samples = [];

export function addSample(bytesPerSecond) {
  const now = Date.now() / 1000;
  samples.push({ at: now, value: bytesPerSecond });
  samples = samples.filter((sample) => sample.at > now - span - 2);
}

export function draw() {
  const top = roundUp(Math.max(1000, ...samples.map((sample) => sample.value)));
  const runs = unbroken(samples).map((run) => run.map((sample) => position(sample, top)));
  byID("plot-line").setAttribute("d", runs.map((run) => `M${run.join("L")}`).join(""));
  byID("plot-fill").setAttribute("d", runs.map(filled).join(""));
  setText(byID("plot-top"), speed(top));
  setText(byID("plot-words"), words());
}

function position({ at, value }, top) {
  const x = span - (Date.now() / 1000 - at);
  return `${x.toFixed(1)} ${(100 - (value / top) * 98).toFixed(2)}`;
}

function filled(run) {
  const [first, last] = [run[0], run[run.length - 1]].map((point) => point.split(" ")[0]);
  return `M${first} 100L${run.join("L")}L${last} 100Z`;
}

/** Splits the samples at gaps, where the service was unreachable. */
function unbroken(all) {
  const runs = [];
  all.forEach((sample, index) => {
    if (index > 0 && sample.at - all[index - 1].at < 5) runs[runs.length - 1].push(sample);
    else runs.push([sample]);
  });
  return runs;
}

/** Rounds up to 1, 2 or 5 times a power of ten, for a readable scale. */
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value);
}

function words() {
  if (samples.length === 0) return "Throughput: not measured yet.";
  const values = samples.map((sample) => sample.value);
  const average = values.reduce((sum, value) => sum + value, 0) / values.length;
  const now = values[values.length - 1];
  return `Now ${speed(now)}; highest ${speed(Math.max(...values))}, average ${speed(average)} in the last 5 minutes.`;
}
