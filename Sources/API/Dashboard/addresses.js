// Reads addresses from text that a person has pasted, dropped or read from a file, and finds the lines that are wrong before
// they are sent.

/** The service has other limits; these only find what cannot be right. */
const longest = 8192;
const schemes = ["http:", "https:", "rehearse:"];

/**
 * @typedef {{ number: number, start: number, end: number, urls: string[], fault: string | null }} Line `start` and `end` are positions in
 *   the text, `urls` are the mirrors of one file, and `fault` is a sentence about the line.
 */

/** @param {string} text @returns {Line[]} the lines that have something. */
export function readLines(text) {
  /** @type {Map<string, number>} */
  const first = new Map();
  let start = 0;
  return text.split("\n").flatMap((raw, index) => {
    /** @type {Line} */
    const line = { number: index + 1, start, end: start + raw.length, urls: [], fault: null };
    start += raw.length + 1;
    const content = raw.trim();
    // Input files of aria2 and wget have such comments.
    if (content === "" || content.startsWith("#")) return [];
    line.urls = content.split(/\s+/);
    line.fault = faultIn(content, line.urls) ?? repetition(line.urls[0], line.number, first);
    return [line];
  });
}

/** @param {string} content @param {string[]} urls */
function faultIn(content, urls) {
  if (urls.every((url) => isAddress(url))) return urls.find((url) => url.length > longest) ? "The address is too long." : null;
  const shown = content.length > 60 ? `${content.slice(0, 59)}…` : content;
  const isOther = /^[a-z][a-z0-9+.-]*:/i.test(content) && !schemes.includes(content.split(":")[0].toLowerCase() + ":");
  const why = isOther ? "fetchd downloads http and https only" : "an address begins with http:// or https://";
  return `The address “${shown}” cannot be downloaded: ${why}.`;
}

/** @param {string} text */
function isAddress(text) {
  try {
    const url = new URL(text);
    return schemes.includes(url.protocol) && (url.protocol === "rehearse:" || /^https?:\/\/[^/]/i.test(text));
  } catch {
    return false;
  }
}

/** @param {string} url @param {number} number @param {Map<string, number>} first */
function repetition(url, number, first) {
  const before = first.get(url);
  if (before === undefined) first.set(url, number);
  return before === undefined ? null : `The address is the same as in line ${before}.`;
}

/**
 * The addresses in a dropped or chosen file: those of a text file, or the one of an Internet shortcut (`.url`).
 * @param {string} name @param {string} text
 */
export function addressesInFile(name, text) {
  const shortcut = /^\s*\[InternetShortcut\]/i.test(text) && text.match(/^URL=(.+)$/im);
  return (shortcut ? shortcut[1] : text).replaceAll("\r\n", "\n").trim();
}

/**
 * Whether a pasted text looks like addresses, so that the form for new downloads opens with it.
 * @param {string} text
 */
export function hasAddress(text) {
  return /^\s*https?:\/\/\S/im.test(text);
}
