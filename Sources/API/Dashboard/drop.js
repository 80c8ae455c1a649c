// Addresses that come to the page from elsewhere: dropped text, links and text files, pasted text, and chosen files.

import { addressesInFile, hasAddress } from "./addresses.js";
import { byID } from "./dom.js";
import { count } from "./format.js";
import { complain } from "./notices.js";
import { mayUse } from "./scopes.js";

/** Bytes. Ten thousand addresses of the usual length have less than one MiB. */
const largestFile = 8 * 1024 * 1024;

/** @param {(text: string) => void} take (text) opens the form for new downloads with the addresses. */
export function prepareDrop(take) {
  let depth = 0;
  const show = (/** @type {boolean} */ isOver) => (byID("drop").hidden = !isOver);
  document.addEventListener("dragenter", (event) => {
    if (!isWelcome(event)) return;
    depth += 1;
    show(true);
  });
  document.addEventListener("dragleave", () => {
    depth = Math.max(0, depth - 1);
    if (depth === 0) show(false);
  });
  document.addEventListener("dragover", (event) => isWelcome(event) && event.preventDefault());
  document.addEventListener("drop", async (/** @type {any} */ event) => {
    depth = 0;
    show(false);
    if (!isWelcome(event)) return;
    event.preventDefault();
    const text = await textOf(event.dataTransfer);
    if (text) take(text);
  });
  document.addEventListener("paste", (/** @type {any} */ event) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    const isField = event.target.closest?.("input, textarea, select");
    if (isField || document.querySelector("dialog[open]") || !mayUse("jobs") || !hasAddress(text)) return;
    event.preventDefault();
    take(text.trim());
  });
  byID("add-file").addEventListener("change", async (/** @type {any} */ event) => {
    const text = await textOfFiles([...event.target.files]);
    event.target.value = "";
    if (text) take(text);
  });
}

/**
 * Text that is dragged inside a field stays in that field.
 * @param {any} event
 */
function isWelcome(event) {
  const isElsewhere = document.querySelector("dialog[open]") && !byID("add-dialog").open;
  const types = [...(event.dataTransfer?.types ?? [])];
  const isField = event.target.closest?.("input, textarea") && !types.includes("Files");
  return mayUse("jobs") && !isElsewhere && !isField && types.some((type) => ["Files", "text/uri-list",
    "text/plain"].includes(type));
}

/** @param {DataTransfer} transfer */
async function textOf(transfer) {
  const files = [...transfer.files];
  if (files.length > 0) return await textOfFiles(files);
  return (transfer.getData("text/uri-list") || transfer.getData("text/plain")).trim();
}

/** @param {File[]} files */
async function textOfFiles(files) {
  const texts = await Promise.all(files.map(textOfFile));
  return texts.filter(Boolean).join("\n");
}

/** @param {File} file */
async function textOfFile(file) {
  if (file.size > largestFile) {
    complain(`${file.name} has ${count(file.size)} bytes. A list of addresses has at most ${count(largestFile)}.`);
    return "";
  }
  const text = await file.text();
  if (text.includes("\0")) {
    complain(`${file.name} is not a text file. Drop a file that has one address in each line.`);
    return "";
  }
  return addressesInFile(file.name, text);
}
