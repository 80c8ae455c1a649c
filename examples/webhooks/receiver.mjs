#!/usr/bin/env node
// A receiver of fetchd's webhooks in JavaScript, for Node.js 18 or newer, without packages.
//
//     WEBHOOK_SECRET=whsec_... node examples/webhooks/receiver.mjs 9000
//
// It verifies each request and prints its event. To use it in your program, copy `isGenuine`.

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

// Seconds. Older requests are refused, so that a recorded request cannot be used again later.
const tolerance = 300;
const largestBody = 1 << 20;

/**
 * Whether fetchd has signed this body. `id`, `timestamp` and `signatures` are the values of webhook-id, webhook-timestamp
 * and webhook-signature. `body` is a Buffer with the unchanged bytes, and `now` is in seconds since 1970.
 */
export function isGenuine(secret, id, timestamp, signatures, body, now) {
  if (!/^[0-9]{1,11}$/.test(timestamp) || Math.abs(now - Number(timestamp)) > tolerance) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  if (key.length === 0) return false;
  const code = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
  const expected = Buffer.from(`v1,${code}`);
  // During a rotation, there is one signature for each secret.
  return signatures.split(" ").some((signature) => {
    const given = Buffer.from(signature);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

// A table with a unique key in your program: it must survive a restart.
const seen = new Set();

async function receive(request, secret) {
  if (request.method !== "POST") return 405;
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size > largestBody) return 413;
    parts.push(part);
  }
  const body = Buffer.concat(parts);
  const field = (name) => request.headers[`webhook-${name}`] ?? "";
  const [id, timestamp, signatures] = [field("id"), field("timestamp"), field("signature")];
  if (!isGenuine(secret, id, timestamp, signatures, body, Date.now() / 1000)) return 401;
  // fetchd delivers at least once, and repeats the id.
  if (!seen.has(id)) {
    seen.add(id);
    console.log("verified", JSON.parse(body).type);
  }
  return 204;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const server = createServer(async (request, response) => {
    const status = await receive(request, process.env.WEBHOOK_SECRET).catch(() => 400);
    response.writeHead(status, status === 204 ? {} : { connection: "close" }).end();
  });
  server.listen(Number(process.argv[2]), "127.0.0.1", () => console.log(`listening on port ${server.address().port}`));
}
