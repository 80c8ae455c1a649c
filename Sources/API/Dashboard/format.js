// Formats numbers, sizes and times.

const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
const whole = new Intl.NumberFormat("en");
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const dayAndClock = new Intl.DateTimeFormat("en-GB", {
  day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit",
});

/** @param {number} number */
export function count(number) {
  return whole.format(number);
}

/**
 * `1 download`, `12 downloads`.
 * @param {number} number @param {string} one @param {string} several
 */
export function counted(number, one, several = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : several}`;
}

/**
 * Bytes in binary units, as the command line shows them, with three significant digits: `999 B`, `1.05 MiB`, `37.2 GiB`.
 * @param {number} number
 */
export function bytes(number) {
  let [value, unit] = [number, 0];
  while (value >= 999.5 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  const digits = unit === 0 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

/** @param {number} bytesPerSecond */
export function speed(bytesPerSecond) {
  return `${bytes(bytesPerSecond)}/s`;
}

/** @param {number} fraction */
export function percent(fraction) {
  // 100 % is shown only for a complete download.
  return `${fraction >= 1 ? 100 : Math.min(99, Math.floor(fraction * 100))} %`;
}

/**
 * Seconds: `8 s`, `2 min 5 s`, `3 h 20 min`, `2 d 4 h`.
 * @param {number} seconds
 */
export function duration(seconds) {
  const left = Math.max(0, Math.round(seconds));
  if (left < 60) return `${left} s`;
  if (left < 3600) return pair(left, 60, "min", "s");
  if (left < 86400) return pair(Math.round(left / 60), 60, "h", "min");
  return pair(Math.round(left / 3600), 24, "d", "h");
}

/** @param {number} amount @param {number} base @param {string} large @param {string} small */
function pair(amount, base, large, small) {
  const rest = amount % base;
  return `${Math.floor(amount / base)} ${large}${rest ? ` ${rest} ${small}` : ""}`;
}

/**
 * With fractions of a second, for the timings of a receipt and latencies.
 * @param {number} seconds
 */
export function exactDuration(seconds) {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  return seconds < 60 ? `${seconds.toFixed(2)} s` : duration(seconds);
}

/**
 * Formats an RFC 3339 time in the time zone of this computer, without the day if it is today.
 * @param {string} text
 */
export function time(text) {
  const date = new Date(text);
  return (date.toDateString() === new Date().toDateString() ? clock : dayAndClock).format(date);
}

/**
 * With the day, also if it is today: for a moment that is shown by itself.
 * @param {string} text
 */
export function fullTime(text) {
  return dayAndClock.format(new Date(text));
}

/**
 * The seconds until this time; negative if it has passed.
 * @param {string} text
 */
export function secondsUntil(text) {
  return (new Date(text).getTime() - Date.now()) / 1000;
}

/**
 * The name of a download: of its file, or its requested file name, or that which the file gets if the server names no other.
 * @param {Job} job
 */
export function jobName(job) {
  if (job.file) return job.file.path.split("/").pop();
  const wish = job.destination?.filename;
  if (wish && !wish.includes("{")) return wish;
  return nameInAddress(job.url) || "download";
}

/** @param {string} address */
export function hostOf(address) {
  try {
    return new URL(address).host || new URL(address).protocol.replace(":", "");
  } catch {
    return "";
  }
}

/** @param {string} address */
function nameInAddress(address) {
  const last = address.split(/[?#]/)[0].split(/[/:]/).pop() ?? "";
  if (address.split(/[?#]/)[0].endsWith(`//${last}`)) return "";
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

/** @type {[string, number][]} */
const agoes = [["d", 86_400], ["h", 3600], ["min", 60]];

/**
 * `now`, `5 min ago`, `3 h ago`, `12 d ago`.
 * @param {string} moment @param {number} now
 */
export function ago(moment, now = Date.now()) {
  const seconds = Math.max(0, (now - Date.parse(moment)) / 1000);
  const [unit, span] = agoes.find(([, each]) => seconds >= each) ?? ["", 1];
  return unit ? `${count(Math.floor(seconds / span))} ${unit} ago` : "now";
}
