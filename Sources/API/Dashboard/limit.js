// The rate limit of the whole service, beside the throughput.

import { address, get, patch } from "./api.js";
import { byID, setText } from "./dom.js";
import { askForm } from "./formdialog.js";
import { isBound } from "./scopes.js";
import { rateText, readRate } from "./values.js";

const field = {
  name: "rate", label: "Rate limit", placeholder: "no limit", hint: "For all downloads together, such as 2 MiB/s; 0 removes it.",
};

/**
 * Bytes per second.
 * @type {number | null}
 */
let rate = null;

export const rateLimit = () => rate;

/** Reads the limit. A token that is bound to sessions does not see the settings of the service. */
export async function showLimit() {
  if (isBound()) return;
  try {
    take(await get(address("service")));
  } catch {
    // The feed reports that the service is unreachable.
  }
}

export async function changeLimit() {
  const settings = await askForm({
    heading: "Limit the service", words: "", submit: "Set the limit", fields: [field], values: { rate: rateText(rate) },
    send: async (/** @type {Record<string, string>} */ { rate: text }) => set((text && readRate(text, "rate")) || 0),
  });
  if (settings) take(settings);
}

const set = async (/** @type {number} */ limit) => patch(address("service"), { rate_limit_bytes_per_second: limit });

/** @param {Record<string, any>} settings */
function take(settings) {
  rate = settings.rate_limit_bytes_per_second || null;
  setText(byID("limit"), rate ? `Limit ${rateText(rate)}` : "No limit");
}
