// The list of downloads: filtered and in an order, with the selection that the bulk actions use.

import { byID, setAttribute, setText } from "./dom.js";
import { count, counted } from "./format.js";
import { hasText, inOrder, orderNames, descendingFirst } from "./joborder.js";
import { jobRow } from "./jobrow.js";
import { JobSet } from "./jobset.js";
import { element } from "./render.js";
import { RowDrag } from "./rowdrag.js";
import { RowKeys } from "./rowkeys.js";
import { Selection } from "./selection.js";
import { SelectionBar } from "./selectionbar.js";
import { SortableHeads } from "./sorting.js";
import { setQuery } from "./views.js";
import { VirtualRows } from "./virtualrows.js";
import { stateNames } from "./words.js";

/** Milliseconds between two renderings, at least; and how many times as long as the last rendering took. */
const renderPause = 100;
const filterNames = ["text", "state", "session", "tag"];
const usualOrder = Object.keys(orderNames)[0];
const renderShare = 5;
const mostNamed = 20;

/**
 * @typedef {object} JobListener
 * @property {(job: Job) => void} open
 * @property {() => void} changed
 * @property {(error: any) => void} failed
 * @property {() => void} forget the selected downloads.
 * @property {(jobs: Job[]) => void} selected
 * @property {(ids: string[], place: Record<string, string>) => void} move
 */

export class JobList {
  set;
  selection;
  /**
   * What the filter and the order give.
   * @type {Job[]}
   */
  #shown = [];
  /** @type {VirtualRows} */
  #rows;
  #bar;
  #heads;
  /** @type {RowKeys} */
  #keys;
  /** @type {ReturnType<typeof setTimeout> | null} */
  #timer = null;
  #tookToRender = 0;
  #on;

  /** @param {JobListener} on */
  constructor(on) {
    this.#on = on;
    this.set = new JobSet({
      changed: () => this.#renderSoon(), failed: on.failed, inView: () => this.#rows.present.map((job) => job.id),
    });
    this.#rows = new VirtualRows(byID("job-rows"), {
      key: (job) => job.id, row: (/** @type {Job} */ job) => jobRow(job, this.selection.has(job.id), this.#rowListener),
      rendered: () => this.#keys.update(), scrolled: () => this.set.refresh(),
    });
    this.selection = new Selection(() => this.#showSelection());
    this.#heads = new SortableHeads(byID("job-heads"), descendingFirst, (order) => this.#sort(order));
    this.#keys = new RowKeys(byID("job-rows"), {
      extend: (id) => this.selection.extendTo(id, this.#order), toggle: (id) => this.selection.toggle(id),
      all: () => this.selection.set(this.#order), none: () => this.selection.clear(), remove: () => on.forget(),
      select: (id) => this.selection.only(id), end: (isLast) => this.#rows.reveal(isLast ? this.#shown.length - 1 : 0),
    });
    new RowDrag(byID("job-rows"), { ids: (id) => this.#dragged(id), move: on.move });
    this.#bar = new SelectionBar(this.selection, () => this.#shown);
    this.#prepareFilters();
  }

  // MARK: What others ask of the list

  /**
   * Sets some of the filters; the others stay.
   * @param {Partial<Filters>} values
   */
  narrow(values) {
    for (const [name, value] of Object.entries(values)) this.#form.elements[name].value = value;
    this.#startOver();
  }

  /**
   * Shows what an address says.
   * @param {URLSearchParams} query its filters and order, as `#query` makes it.
   */
  restore(query) {
    const { session, order } = this.#form.elements;
    for (const name of filterNames) this.#form.elements[name].value = query.get(name) ?? "";
    const wanted = query.get("session") ?? "";
    // The sessions may not be known yet.
    if (session.value !== wanted) session.append(element("option", { value: wanted, selected: true }, wanted));
    this.#choose(query.get("order") ?? usualOrder);
    if (!order.value) order.value = usualOrder;
    this.#startOver();
  }

  get #query() {
    const { order } = this.#form.elements;
    /** @type {Record<string, string>} */
    const values = { ...this.filters, text: this.#form.elements.text.value.trim() };
    const set = filterNames.map((name) => [name, values[name]]).filter(([, value]) => value);
    if (order.value !== usualOrder) set.push(["order", order.value]);
    return new URLSearchParams(set);
  }

  get filters() {
    const { session, state, tag, text } = this.#form.elements;
    return { session: session.value, state: state.value, tag: tag.value.trim(), text: text.value.trim().toLowerCase() };
  }

  reload() {
    return this.set.load();
  }

  /** @param {ServiceEvent} event */
  noteEvent(event) {
    this.set.noteEvent(event);
  }

  /**
   * The progress of the rows is shown once a second: each change of a text is a layout of the table.
   * @param {string} id @param {Progress} progress @param {string} [phase]
   */
  progress(id, progress, phase) {
    this.set.noteProgress(id, progress, phase);
  }

  /**
   * Takes a job that another part of the page has read or changed.
   * @param {Job} job
   */
  show(job) {
    this.set.take(job);
    this.#renderSoon();
  }

  /** @param {string} id */
  forget(id) {
    this.set.forget(id);
  }

  tick() {
    this.#rows.render();
  }

  /**
   * The downloads with this text, which is in lower case.
   * @param {string} text
   */
  named(text) {
    const found = [];
    for (const job of this.set.jobs.values()) if (hasText(job, text) && found.push(job) === mostNamed) break;
    return found;
  }

  /**
   * Reads downloads that an action has changed.
   * @param {Job[]} jobs
   */
  reread(jobs) {
    this.set.reread(jobs.map((job) => job.id));
  }

  get selected() {
    return this.selection.ids.flatMap((id) => this.set.jobs.get(id) ?? []);
  }

  /** @param {Session[]} sessions */
  showSessions(sessions) {
    const select = this.#form.elements.session;
    const chosen = select.value;
    const options = ["", ...sessions.map((session) => session.id)];
    if (options.join("\n") === [...select.options].map((option) => option.value).join("\n")) return;
    select.replaceChildren(...options.map((id) => element("option", { value: id }, id || "All sessions")));
    if (options.includes(chosen)) select.value = chosen;
    else this.#startOver();
  }

  // MARK: Filters and order

  get #form() {
    return byID("filters");
  }

  get #order() {
    return this.#shown.map((job) => job.id);
  }

  #prepareFilters() {
    const { state, order } = this.#form.elements;
    for (const [value, name] of Object.entries(stateNames)) state.append(element("option", { value }, name));
    for (const [value, name] of Object.entries(orderNames)) order.append(element("option", { value }, name));
    // A text narrows the list with each key; it changes once more when it loses the focus, and this must not turn the page.
    this.#form.addEventListener("input", (/** @type {any} */ { target }) => target.tagName === "INPUT" && this.#startOver({ isTyping: true }));
    this.#form.addEventListener("change", (/** @type {any} */ event) => event.target.tagName === "SELECT" && this.#startOver());
    this.#form.addEventListener("submit", (/** @type {any} */ event) => event.preventDefault());
    // The form resets its fields after this event.
    this.#form.addEventListener("reset", () => setTimeout(() => this.#startOver()));
  }

  /** @param {Order} order */
  #sort({ key, isDescending }) {
    this.#choose(isDescending ? `${key},descending` : key);
    this.#startOver();
  }

  /** @param {string} value */
  #choose(value) {
    const select = this.#form.elements.order;
    const [key, direction] = value.split(",");
    // The menu has the usual direction of each order. Another one gets an entry as long as it is chosen.
    select.querySelector("[data-added]")?.remove();
    const reversed = orderNames[direction ? key : `${key},descending`];
    if (!orderNames[value] && reversed) select.append(element("option", { value, "data-added": true }, `${reversed}, reversed`));
    select.value = value;
  }

  get #chosenOrder() {
    const [key, direction] = this.#form.elements.order.value.split(",");
    return { key, isDescending: direction === "descending" };
  }

  #startOver({ isTyping = false } = {}) {
    setQuery(this.#query, isTyping);
    const { session, state, tag } = this.filters;
    const isOther = ["session", "state", "tag"].some((name) => this.set.scope[name] !== { session, state, tag }[name]);
    // With all downloads in memory, the page filters them itself. Otherwise the service does.
    const hasAll = this.set.isComplete && !this.set.scope.session && !this.set.scope.state && !this.set.scope.tag;
    if (isOther && !hasAll) this.set.load({ session, state, tag });
    this.#renderSoon();
    document.dispatchEvent(new CustomEvent("narrowed"));
  }

  /** @param {Job} job @param {Filters} filters */
  #isShown(job, { session, state, tag, text }) {
    return (
      (!session || job.session === session) && (!state || job.state === state) && (!tag || job.tags.includes(tag)) &&
      (!text || hasText(job, text)));
  }

  // MARK: Showing

  #renderSoon() {
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      const start = performance.now();
      this.#render();
      this.#tookToRender = performance.now() - start;
    }, Math.max(this.#tookToRender * renderShare, this.#rows.present.length > 0 ? renderPause : 0));
  }

  #render() {
    const filters = this.filters;
    const order = this.#chosenOrder;
    this.#shown = inOrder([...this.set.jobs.values()].filter((job) => this.#isShown(job, filters)), order);
    this.#heads.show(order);
    this.selection.keep((id) => this.set.jobs.has(id));
    this.#rows.show(this.#shown);
    this.#showCounts(filters);
    this.#showBar();
  }

  /** @type {import("./jobrow.js").RowListener} */
  #rowListener = {
    open: (job) => this.#on.open(job), select: (id, how) => this.#select(id, how), changed: (id, job) => this.#noteChange(id, job),
  };

  /**
   * The user has pressed a button of a row. Its new text, place and buttons are shown together, and at once.
   * @param {string} id @param {Job | null | undefined} job
   */
  #noteChange(id, job) {
    if (job) this.set.take(job);
    if (job === null) this.forget(id);
    this.#render();
    this.#on.changed();
  }

  /** @param {Filters} filters */
  #showCounts(filters) {
    const [shown, all] = [this.#shown.length, this.set.jobs.size];
    const isNarrowed = Object.values(filters).some(Boolean);
    setText(byID("jobs-count"), this.#countWords(shown, all, isNarrowed));
    const empty = byID("jobs-empty");
    empty.hidden = shown > 0;
    setText(empty, this.set.isPartial ? "Reading the downloads…" : emptyWords(isNarrowed));
    setAttribute(byID("job-rows").parentElement, "aria-rowcount", shown + 1);
  }

  /** @param {number} shown @param {number} all @param {boolean} isNarrowed */
  #countWords(shown, all, isNarrowed) {
    const words = isNarrowed ? `${count(shown)} of ${counted(all, "download")}` : shown > 0 ? counted(shown, "download") : "";
    if (this.set.isPartial) return `${words} so far…`;
    if (this.set.isComplete) return words;
    return `${words}. The list is too long for the page: it searches and sorts those that run or wait and the newest. ` +
      "Choose a session, a state or a tag to see others.";
  }

  /**
   * What the drag of a row moves: the selected downloads, if it is one of them. Only the order of the queue shows where they go.
   * @param {string | undefined} id
   */
  #dragged(id) {
    if (!id || !["first", "queue"].includes(this.#chosenOrder.key)) return null;
    return this.selection.has(id) ? this.#order.filter((each) => this.selection.has(each)) : [id];
  }

  /** @param {string} id @param {{ shiftKey: boolean, isAdded: boolean }} it */
  #select(id, { shiftKey, isAdded }) {
    if (shiftKey) this.selection.extendTo(id, this.#order);
    else if (isAdded) this.selection.toggle(id);
    else this.selection.only(id);
  }

  #showSelection() {
    this.#rows.render();
    this.#showBar();
  }

  #showBar() {
    this.#bar.show(this.#shown);
    this.#on.selected(this.selected);
  }
}

/** @param {boolean} isNarrowed */
function emptyWords(isNarrowed) {
  if (isNarrowed) return "No downloads match. “Show all” clears the filters.";
  return "There are no downloads yet. “Add downloads” starts one.";
}
