// Asks receiver.mjs about each request on standard input.

import { createInterface } from "node:readline";

const { isGenuine } = await import(`${process.argv[2]}/receiver.mjs`);
for await (const line of createInterface({ input: process.stdin })) {
  const { secret, id, timestamp, signatures, body, now } = JSON.parse(line);
  console.log(isGenuine(secret, id, timestamp, signatures, Buffer.from(body, "base64"), now));
}
