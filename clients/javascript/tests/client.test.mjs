// The module against a real service, over kills of it.

import assert from "node:assert/strict";
import { createHash, createHmac, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import {
  Client, DownloadFailed, EventParser, EventsPruned, FetchdError, ServiceUnavailable, WebhookError, verifyWebhook,
} from "../fetchd.js";
import { badGateway, Files, Proxy, Service } from "./service.mjs";

/** @type {Service} */
let service;
/** @type {Files} */
let files;
let client;
let folder;

before(async () => {
  service = await Service.start();
  files = await Files.start();
  files.add("small.bin", Buffer.from("small"));
  client = new Client(service.url);
  folder = mkdtempSync(join(tmpdir(), "fetchd-copies."));
});

after(async () => {
  files.close();
  await service.close();
  rmSync(folder, { recursive: true });
});

/** The first of some events that fulfil a condition. */
async function firstOf(events, condition) {
  for await (const event of events) if (condition(event)) return event;
  throw new Error("The events have ended.");
}

describe("downloads", () => {
  it("copies a file to a path and into a folder", async () => {
    const url = `${files.url}/small.bin`;
    await client.download(url, { to: join(folder, "copy") });
    assert.equal(readFileSync(join(folder, "copy"), "utf8"), "small");
    await client.download(url, { to: folder, destination: { filename: "named.bin" } });
    assert.deepEqual(readdirSync(folder).sort(), ["copy", "named.bin"]);
    const job = await client.download(url, { tags: ["kept"] });
    const found = [];
    for await (const one of client.jobs({ tag: "kept" })) found.push(one.id);
    assert.deepEqual(found, [job.id]);
    assert.equal(await (await job.file()).text(), "small");
    assert.equal(await fetch(await job.link()).then((answer) => answer.text()), "small");
  });

  it("continues a copy that breaks off", async () => {
    const bytes = randomBytes(48 << 20);
    const job = await client.download(files.add("large.bin", bytes));
    const proxy = await Proxy.start(service.port);
    const distant = await new Client(proxy.url).job(job.id);
    const cuts = (async () => {
      for (let cut = 0; cut < 3; cut += 1) {
        await sleep(60);
        proxy.cut();
      }
    })();
    const copy = await distant.save(join(folder, "large.bin"));
    await cuts;
    assert.equal(createHash("sha256").update(readFileSync(copy)).digest("hex"), job.document.file.sha256);
    proxy.close();
  });

  it("does not keep a copy of a file that has changed", async () => {
    const job = await client.download(files.add("changed.bin", Buffer.from("before")));
    writeFileSync(join(service.folder, "downloads", job.path), "behind");
    await assert.rejects(job.save(join(folder, "changed.bin")), FetchdError);
    assert.ok(!readdirSync(folder).some((name) => name.startsWith("changed.bin")));
  });

  it("says why a download failed", async () => {
    await assert.rejects(client.download(`${files.url}/none`), (error) => error instanceof DownloadFailed && error.code === "bad_status");
    const checksum = { algorithm: "md5", value: "0".repeat(32) };
    await assert.rejects(client.download(`${files.url}/small.bin`, { checksum }), { name: "DownloadFailed", code: "checksum_mismatch" });
  });

  it("says what is wrong with a request", async () => {
    await assert.rejects(client.add("ftp://host/"), { status: 422, pointer: "/url", type: "/problems/invalid-value" });
    await assert.rejects(client.job("job_none"), { status: 404 });
    await assert.rejects(client.session(".."), TypeError);
    assert.throws(() => new Client("downloads"), TypeError);
    await assert.rejects(client.request("GET", new URL("http://127.0.0.1:1/v1/stats")), TypeError);
  });

  it("waits over a restart, and gives up when the service stays away", async () => {
    const bytes = randomBytes(2_000_000);
    const job = await client.add(files.add("waited.bin", bytes, { isGated: true }));
    const waiting = job.wait({ timeout: 60 });
    await service.restart();
    files.open("waited.bin");
    await waiting;
    assert.equal(job.document.file.sha256, createHash("sha256").update(bytes).digest("hex"));
    await assert.rejects(new Client("http://127.0.0.1:1", { patience: 0.5 }).stats(), ServiceUnavailable);
  });

  it("submits a job once, although its answer was lost", async () => {
    const proxy = await Proxy.start(service.port);
    proxy.losesNextAnswer = true;
    const job = await new Client(proxy.url).add(`${files.url}/small.bin`, { tags: ["once"] });
    const jobs = [];
    for await (const { id } of client.jobs({ tag: "once" })) jobs.push(id);
    assert.deepEqual(jobs, [job.id]);
    proxy.close();
  });

  it("gives each change of a job", async () => {
    const job = await client.add(files.add("watched.bin", randomBytes(2_000_000), { isGated: true }));
    const fractions = [];
    for await (const progress of job) {
      fractions.push(progress.fraction);
      if (progress.bytes_received >= 1_000_000) files.open("watched.bin");
    }
    assert.equal(job.state, "succeeded");
    assert.equal(fractions.at(-1), 1);
    assert.deepEqual([...fractions].sort((one, other) => one - other), fractions);
    const states = [];
    for await (const { state } of client.watch(job.id)) states.push(state);
    assert.deepEqual(states, ["succeeded"]);
  });

  it("acts on a job", async () => {
    const job = await client.add(files.add("acted.bin", randomBytes(2_000_000), { isGated: true }));
    assert.equal((await job.pause()).state, "paused");
    assert.equal((await job.change({ priority: "low" })).document.priority, "low");
    await assert.rejects(job.wait({ timeout: 0.1 }), { name: "TimeoutError" });
    const stop = new AbortController();
    const waiting = job.wait({ signal: stop.signal });
    stop.abort(new Error("enough"));
    await assert.rejects(waiting, /enough/);
    await job.cancel({ produceResumeData: true });
    await assert.rejects(job.wait(), { code: "cancelled" });
    files.open("acted.bin");
    await (await job.retry()).wait();
    await job.delete({ file: "delete" });
    await job.delete();
    await assert.rejects(job.refresh(), { status: 404 });
  });
});

describe("sessions", () => {
  it("attaches again, and gives a finish until it is acknowledged", async () => {
    const session = await client.session("photos", { directory: "photos" });
    await session.addAll([{ url: `${files.url}/small.bin` }, { url: `${files.url}/none` }]);
    const finish = await session.waitForFinish({ acknowledge: false });
    assert.equal(finish.outcome, "partly_failed");
    assert.deepEqual([finish.counts.succeeded, finish.counts.failed, finish.failures[0].code], [1, 1, "bad_status"]);
    await service.restart();
    const again = await (await client.session("photos")).waitForFinish();
    assert.equal(again.event, finish.event);
    const attached = await client.session("photos");
    await assert.rejects(attached.waitForFinish({ timeout: 0.5 }), { name: "TimeoutError" });
    assert.match(await attached.manifest(), /^[0-9a-f]{64}  photos\/small\.bin\n$/);
  });

  it("imports a list", async () => {
    const session = await client.session("listed");
    const list = `url\tfilename\n${files.url}/small.bin\ta.bin\n${files.url}/small.bin\tb.bin\n`;
    const answer = await session.importList(list, "tsv");
    assert.deepEqual([answer.created, answer.existing], [2, 0]);
    assert.equal((await session.importList(new Blob([list]), "tsv")).created, 2);
    const jobs = [];
    for await (const job of session.jobs()) jobs.push((await job.wait()).path);
    assert.deepEqual(jobs.sort(), ["a.bin", "b.bin"]);
    const pieces = new ReadableStream({
      start(stream) {
        for (const piece of ["url\n", "no address\n"]) stream.enqueue(new TextEncoder().encode(piece));
        stream.close();
      },
    });
    await assert.rejects(session.importList(pieces, "tsv"), (error) => error.status === 422 && error.problem.problems[0].line === 2);
  });

  it("uses a token, and asks for one", async () => {
    const other = await Service.start({ FETCHD_TOKEN: "correct-horse" });
    await assert.rejects(new Client(other.url).stats(), { status: 401 });
    const asked = [];
    const owner = new Client(other.url, {
      authorize: async (refusal) => {
        asked.push(refusal?.status ?? null);
        owner.token = asked.length === 1 ? "wrong" : "correct-horse";
      },
    });
    await owner.stats();
    assert.deepEqual(asked, [null, 401]);
    const job = await owner.download(`${files.url}/small.bin`);
    const link = await job.link();
    assert.equal(await fetch(link).then((answer) => answer.text()), "small");
    assert.equal((await fetch(link)).status, 401);
    await other.close();
  });
});

describe("events", () => {
  it("gives each once and in order, over restarts and through proxies", async () => {
    const session = await client.session("followed");
    const from = session.document.last_event;
    const proxy = await Proxy.start(service.port);
    const kinds = [];
    const feed = new Client(proxy.url).events({ after: from, onConnection: ({ kind }) => kinds.at(-1) !== kind && kinds.push(kind) });
    const ids = [];
    const reading = firstOf(feed, (event) => ids.push(event.id) && event.data.snapshot?.tags[0] === "last");
    for (let round = 0; round < 4; round += 1) {
      const jobs = await session.addAll(Array.from({ length: 25 }, () => ({ url: `${files.url}/small.bin` })));
      if (round % 2 === 0) await service.restart();
      else proxy.cut();
      await jobs.at(-1).wait();
    }
    // A proxy whose service is away answers 502, after which an EventSource would stay closed.
    const port = Number(new URL(proxy.url).port);
    proxy.close();
    const gateway = await badGateway(port);
    await once(gateway, "request");
    gateway.closeAllConnections();
    gateway.close();
    const stray = await session.add(`${files.url}/small.bin`, { tags: ["last"] });
    await stray.wait();
    const again = await Proxy.start(service.port, port);
    await reading;
    again.close();
    assert.deepEqual(ids, [...new Set(ids)].sort((one, other) => one - other));
    assert.ok(kinds.includes("broken"), String(kinds));
    const journal = [];
    for (let next = from; ; ) {
      const page = await client.request("GET", ["events"], { query: { after: next, limit: 1000 } });
      journal.push(...page.events.map(({ id }) => id));
      if (page.events.length === 0) break;
      next = page.next_after;
    }
    assert.deepEqual(ids, journal.filter((id) => id <= ids.at(-1)));
  });

  it("begins now, and has progress only if it is asked for", async () => {
    const session = await client.session("mixed");
    const [plain, mixed] = [session.events(), session.events({ progress: true })];
    const [types, all] = [[], []];
    const done = Promise.all([
      firstOf(plain, (event) => types.push(event.type) && event.type === "session.finished"),
      firstOf(mixed, (event) => all.push(event.type) && event.type === "session.finished"),
    ]);
    while (!(plain.isStreaming && mixed.isStreaming)) await sleep(20);
    const job = await session.add(files.add("mixed.bin", randomBytes(4_000_000), { isGated: true }));
    while (!all.includes("job.progress")) await sleep(20);
    files.open("mixed.bin");
    await job.wait();
    await done;
    assert.ok(!types.includes("job.progress"));
    assert.deepEqual(all.filter((type) => type !== "job.progress"), types);
  });

  it("reads everything again in place of events that are gone", async () => {
    await assert.rejects(firstOf(client.events({ after: 1_000_000_000 }), () => true), EventsPruned);
    const reads = [];
    const feed = client.events({ after: 1_000_000_000, onReset: (sessions) => reads.push(sessions.length) });
    const event = firstOf(feed, ({ type }) => type === "job.succeeded");
    while (reads.length === 0) await sleep(20);
    await client.download(`${files.url}/small.bin`);
    assert.equal((await event).type, "job.succeeded");
  });

  it("ends when its caller does", async () => {
    const stop = new AbortController();
    const reading = (async () => {
      for await (const _ of client.events({ signal: stop.signal })) assert.fail("There is an event.");
    })();
    await sleep(300);
    stop.abort();
    await reading;
    const session = await client.session("refused");
    await session.refresh();
    await assert.rejects(firstOf(new Client(service.url).events({ after: 0, type: "no such type" }), () => true), FetchdError);
  });

  it("parses a stream in pieces of any size", () => {
    const stream = ": comment\r\n\r\nid: 7\r\nevent: a\r\ndata: 1\r\ndata:  2\r\n\r\ndata\n\nid: 8\n\ndata: last\r\rdata: never ended\n";
    const expected = [{ type: "a", data: "1\n 2", id: "7" }, { type: "message", data: "", id: null }, { type: "message", data: "last", id: null }];
    for (let size = 1; size <= stream.length; size += 1) {
      const parser = new EventParser();
      const events = [];
      for (let start = 0; start < stream.length; start += size) events.push(...parser.take(stream.slice(start, start + size)));
      assert.deepEqual(events, expected, `in pieces of ${size}`);
    }
  });
});

describe("webhooks", () => {
  const secret = `whsec_${randomBytes(32).toString("base64")}`;
  const body = JSON.stringify({ type: "session.finished", data: {} });

  function signed(id, timestamp, key = secret) {
    const mac = createHmac("sha256", Buffer.from(key.slice(6), "base64"));
    return { "Webhook-Id": id, "webhook-timestamp": String(timestamp), "webhook-signature": `v1,${mac.update(`${id}.${timestamp}.${body}`).digest("base64")}` };
  }

  it("verifies a request", async () => {
    const now = Math.floor(Date.now() / 1000);
    assert.equal((await verifyWebhook(signed("msg_1", now), body, secret)).type, "session.finished");
    assert.equal((await verifyWebhook(new Headers(signed("msg_1", now)), Buffer.from(body), ["whsec_AAAA", secret])).type, "session.finished");
    for (const [headers, text, key] of [
      [signed("msg_1", now - 600), body, secret], [signed("msg_1", now + 600), body, secret], [signed("msg_1", now), `${body} `, secret],
      [{ ...signed("msg_1", now), "Webhook-Id": "msg_2" }, body, secret], [{}, body, secret], [signed("msg_1", now), body, "whsec_AAAA"],
      [signed("msg_1", now), body, "whsec_no base64"], [{ ...signed("msg_1", now), "webhook-signature": "v1a,AAAA" }, body, secret],
    ]) {
      await assert.rejects(verifyWebhook(headers, text, key), WebhookError);
    }
  });

  it("verifies with a public key", async () => {
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    const raw = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
    const now = Math.floor(Date.now() / 1000);
    const headers = signed("msg_1", now);
    headers["webhook-signature"] += ` v1a,${sign(null, Buffer.from(`msg_1.${now}.${body}`), privateKey).toString("base64")}`;
    assert.equal((await verifyWebhook(headers, body, `whpk_${raw.toString("base64")}`)).type, "session.finished");
    assert.equal((await verifyWebhook(headers, body, secret)).type, "session.finished");
    await assert.rejects(verifyWebhook(headers, `${body} `, `whpk_${raw.toString("base64")}`), WebhookError);
    await assert.rejects(verifyWebhook(signed("msg_1", now), body, `whpk_${raw.toString("base64")}`), WebhookError);
  });

  it("verifies what the service sends", async () => {
    const { createServer } = await import("node:http");
    const receiver = createServer();
    receiver.listen(0, "127.0.0.1");
    await once(receiver, "listening");
    const session = await client.session("hooked");
    const path = ["sessions", session.id, "webhooks", "here"];
    const { secret: given } = await client.request("PUT", path, { json: { url: `http://127.0.0.1:${receiver.address().port}/` } });
    const arrived = once(receiver, "request");
    await client.request("POST", [...path, "test"]);
    const [request, response] = await arrived;
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    response.end();
    assert.equal((await verifyWebhook(request.headers, Buffer.concat(pieces), given)).type, "webhook.test");
    receiver.close();
  });
});
