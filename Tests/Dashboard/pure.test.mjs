// The modules of the dashboard that need no browser. FETCHD_PAGE is their folder.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const page = (name) => import(pathToFileURL(`${process.env.FETCHD_PAGE}/${name}.js`));
const values = await page("values");
const { sorted } = await page("sorting");
const { Selection } = await page("selection");
const { readLines } = await page("addresses");
const { coalesced } = await page("coalesce");
const format = await page("format");

test("rates and sizes are read as they are written", () => {
  for (const [text, rate] of [
    ["2 MiB/s", 2 * 1024 ** 2], ["500k", 500_000], ["1,5 MB/s", 1_500_000], ["7 B/s", 7], ["3gibps", 3 * 1024 ** 3], ["0", null],
  ]) assert.equal(values.readRate(text), rate, text);
  for (const text of ["fast", "", "2 XB/s", "-1", "1 MiB/h"]) {
    assert.throws(() => values.readRate(text, "rate"), (error) => error.field === "rate", text);
  }
  for (let rate = 1; rate < 2 ** 45; rate = rate * 3 + 1) assert.equal(values.readRate(values.rateText(rate)), rate);
  for (const size of [0, 1, 999, 1024, 10 ** 9, 5 * 1024 ** 4]) assert.equal(values.readSize(values.sizeText(size)), size);
  assert.equal(values.rateText(5_000_000), "5 MB/s");
});

test("durations are read as they are written", () => {
  for (const [text, seconds] of [["30 days", 2_592_000], ["1 day", 86_400], ["12 h", 43_200], ["5 min", 300], ["90", 90], ["1.5 hours", 5400]]) {
    assert.equal(values.readDuration(text), seconds, text);
  }
  for (const text of ["3 moons", "", "day"]) assert.throws(() => values.readDuration(text, "d"), (error) => error.field === "d", text);
  for (const seconds of [0, 1, 60, 61, 3600, 90_000, 86_400, 31_536_000]) {
    assert.equal(values.readDuration(values.durationText(seconds)), seconds);
  }
});

test("entries without a key are last in both directions, and equal ones stay", () => {
  const entries = [{ n: 2 }, { n: null }, { n: 10 }, { n: 2, second: true }];
  assert.deepEqual(sorted(entries, ({ n }) => n).map(({ n }) => n), [2, 2, 10, null]);
  assert.deepEqual(sorted(entries, ({ n }) => n, true).map(({ n }) => n), [10, 2, 2, null]);
  assert.equal(sorted(entries, ({ n }) => n)[1].second, true);
  assert.deepEqual(sorted(["file 10", "File 2", "file 1"], (name) => name), ["file 1", "File 2", "file 10"]);
});

test("a range begins at the last selected one", () => {
  let changes = 0;
  const selection = new Selection(() => (changes += 1));
  const order = ["a", "b", "c", "d", "e"];
  selection.only("b");
  selection.extendTo("d", order);
  assert.deepEqual(selection.ids, ["b", "c", "d"]);
  selection.toggle("a");
  selection.toggle("c");
  assert.deepEqual(selection.ids, ["b", "d", "a"]);
  selection.keep((id) => id !== "d");
  assert.deepEqual(selection.ids, ["b", "a"]);
  selection.clear();
  assert.equal(selection.size, 0);
  selection.clear();
  assert.equal(changes, 6);
});

test("wrong and repeated lines have a reason", () => {
  const lines = readLines("https://a.example/1\n\n# comment\nftp://a.example/2\nhttps://a.example/1\nhttps://b.example/3 https://c.example/3");
  assert.deepEqual(lines.map(({ number, urls, fault }) => [number, urls.length, fault !== null]), [
    [1, 1, false], [4, 1, true], [5, 1, true], [6, 2, false],
  ]);
});

test("many calls become a few, and one runs after the last", async () => {
  let [runs, wanted, seen] = [0, 0, 0];
  const run = coalesced(async () => {
    runs += 1;
    seen = wanted;
    await new Promise((resolve) => setImmediate(resolve));
  }, 0);
  const first = run();
  for (wanted = 1; wanted < 100; wanted += 1) run();
  await first;
  assert.equal(runs, 2);
  assert.equal(seen, 100);
});

test("numbers are short and do not claim too much", () => {
  assert.equal(format.bytes(999), "999 B");
  assert.equal(format.bytes(1_048_576), "1.00 MiB");
  assert.equal(format.percent(0.99999), "99 %");
  assert.equal(format.percent(1), "100 %");
  assert.equal(format.duration(125), "2 min 5 s");
  const now = Date.parse("2019-08-19T15:00:00Z");
  for (const [moment, words] of [["2019-08-19T14:59:30Z", "now"], ["2019-08-19T14:55:00Z", "5 min ago"], ["2019-08-17T15:00:00Z", "2 d ago"]]) {
    assert.equal(format.ago(moment, now), words);
  }
});
