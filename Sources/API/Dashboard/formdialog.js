// A dialog with a form that a list of fields describes. Mistakes are shown at their fields, and nothing is lost by them.

import { FetchdError } from "./client.js";
import { byID, closeByButtons, setText } from "./dom.js";
import { Mistake, sentence } from "./problems.js";
import { element } from "./render.js";

/**
 * @typedef {object} Form
 * @property {string} heading
 * @property {string} [words]
 * @property {string} submit
 * @property {Field[]} fields
 * @property {Record<string, any>} values
 * @property {(values: Record<string, any>) => Promise<any>} send gets the values as texts and booleans, and resolves with the result of
 *   the dialog.
 * @property {string | null} [focus] a field.
 */

/** @type {{ form: Form, resolve: (result: any) => void } | null} */
let current = null;
let hints = 0;

/** @param {Form} form @returns {Promise<any>} the result of `send`; null if the dialog was closed. */
export function askForm(form) {
  const dialog = byID("form-dialog");
  const place = byID("form-form");
  setText(byID("form-heading"), form.heading);
  setText(byID("form-words"), form.words ?? "");
  byID("form-words").hidden = !form.words;
  setText(byID("form-submit"), form.submit);
  byID("form-error").hidden = true;
  byID("form-fields").replaceChildren(...fieldGroups(form.fields, form.values));
  dialog.showModal();
  const wanted = form.focus && place.elements[form.focus];
  wanted?.closest("details")?.setAttribute("open", "");
  (wanted || byID("form-fields").querySelector("input:not([disabled]), select, textarea"))?.focus();
  return new Promise((resolve) => (current = { form, resolve }));
}

export function prepareFormDialog() {
  const dialog = byID("form-dialog");
  closeByButtons(dialog, () => byID("form-submit").hasAttribute("aria-busy"));
  // The event comes later than the closing: another form may be open by then.
  dialog.addEventListener("close", () => {
    if (dialog.open) return;
    // A secret does not stay in the page.
    byID("form-fields").replaceChildren();
    current?.resolve(null);
  });
  byID("form-form").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    submit();
  });
}

async function submit() {
  const button = byID("form-submit");
  if (button.getAttribute("aria-busy") || !current) return;
  const { form, resolve } = current;
  button.setAttribute("aria-busy", "true");
  try {
    resolve(await form.send(valuesIn(byID("form-form"), form.fields)));
    byID("form-dialog").close();
  } catch (error) {
    showMistake(byID("form-form"), byID("form-error"), form.fields, error);
  }
  button.removeAttribute("aria-busy");
}

/**
 * The values of the fields, as texts and booleans.
 * @param {HTMLFormElement} place @param {Field[]} fields
 */
export function valuesIn(place, fields) {
  return Object.fromEntries(fields.map(({ name, type }) => {
    const control = /** @type {any} */ (place.elements.namedItem(name));
    return [name, type === "checkbox" ? control.checked : control.value.trim()];
  }));
}

/**
 * Shows an error, and marks the field that it names.
 * @param {HTMLFormElement} place @param {HTMLElement} target @param {Field[]} fields @param {any} error
 */
export function showMistake(place, target, fields, error) {
  for (const control of place.elements) control.removeAttribute("aria-invalid");
  target.hidden = false;
  const field = fields.find((each) => isNamed(each, error));
  setText(target, field ? sentence(error).replace(/^`[^`]+`/, `“${field.label}”`) : sentence(error));
  const control = field && /** @type {any} */ (place.elements.namedItem(field.name));
  if (!control) return target.scrollIntoView({ block: "nearest" });
  control.closest("details")?.setAttribute("open", "");
  control.setAttribute("aria-invalid", "true");
  control.focus();
}

/** @param {Field} field @param {any} error */
function isNamed({ name, pointer }, error) {
  if (error instanceof Mistake) return error.field === name;
  const at = error instanceof FetchdError ? error.pointer : null;
  return Boolean(at) && (at === `/${name}` || at === pointer || (pointer && at?.startsWith(`${pointer}/`)));
}

// MARK: Fields

/**
 * The fields, those with `more` in a part that can be opened.
 * @param {Field[]} fields @param {Record<string, any>} values
 */
function fieldGroups(fields, values) {
  const group = (/** @type {Field[]} */ some) => element(
    "div", { class: "fields" }, ...some.map((field) => fieldElement(field, values[field.name])));
  const more = fields.filter((field) => field.more);
  const groups = [group(fields.filter((field) => !field.more))];
  if (more.length > 0) groups.push(element("details", {}, element("summary", {}, "More options"), group(more)));
  return groups;
}

/**
 * One field with its label and hint.
 * @param {Field} field @param {any} value
 */
export function fieldElement(field, value) {
  const { label, hint, type } = field;
  const control = controlFor(field, value);
  hints += 1;
  const note = hint && element("span", { class: "hint", id: `hint-${hints}` }, hint);
  if (note) control.setAttribute("aria-describedby", note.id);
  const isBox = type === "checkbox";
  const parts = isBox ? [control, element("span", {}, label)] : [`${label} `, control];
  const isWide = field.isWide || type === "textarea";
  return element("div", { class: isWide ? "field wide" : "field" }, element("label", { class: isBox ? "check" : null }, ...parts),
    note);
}

/** @param {Field} field @param {any} value */
function controlFor({ name, type, options, isDisabled, label, hint, pointer, more, isWide, at, kind, ...attributes }, value) {
  const common = { name, autocomplete: "off", spellcheck: "false", disabled: isDisabled, ...attributes };
  if (options) {
    const entries = Object.entries(options).map(([key, text]) => element("option", { value: key, selected: key === String(value
      ?? "") }, text));
    return element("select", { name, disabled: isDisabled }, ...entries);
  }
  if (type === "textarea") {
    const area = element("textarea", { rows: "2", autocapitalize: "none", ...common });
    area.value = value ?? "";
    return area;
  }
  if (type === "checkbox") return element("input", { type, ...common, checked: Boolean(value) });
  const input = element("input", { type: type ?? "text", autocapitalize: "none", ...common });
  input.value = value ?? "";
  return input;
}
