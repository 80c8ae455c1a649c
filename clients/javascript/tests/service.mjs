// A real service, and a server whose files it downloads.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { openSync, closeSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { connect, createServer as listen } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const program = process.env.FETCHD_BIN ?? join(root, ".build/debug/fetchd");

/** The service keeps its port and its folders over restarts. */
export class Service {
  folder = mkdtempSync(join(tmpdir(), "fetchd-javascript."));
  #process = null;

  static async start(environment = {}) {
    const service = new Service();
    service.environment = { ...process.env, ...environment };
    const probe = listen().listen(0, "127.0.0.1");
    await once(probe, "listening");
    service.port = probe.address().port;
    probe.close();
    await once(probe, "close");
    service.url = `http://127.0.0.1:${service.port}`;
    await service.start();
    return service;
  }

  async start() {
    const folders = ["--data-dir", join(this.folder, "data"), "--downloads-dir", join(this.folder, "downloads")];
    const address = ["--listen", `127.0.0.1:${this.port}`, "--allow-network", "127.0.0.0/8"];
    const log = openSync(join(this.folder, "log"), "a");
    this.#process = spawn(program, ["serve", ...address, ...folders], { env: this.environment, stdio: ["ignore", log, log] });
    closeSync(log);
    for (let attempt = 0; attempt < 600; attempt += 1) {
      const isReady = await fetch(`${this.url}/readyz`).then((answer) => answer.ok, () => false);
      if (isReady) return;
      if (this.#process.exitCode !== null) break;
      await sleep(50);
    }
    throw new Error(readFileSync(join(this.folder, "log"), "utf8"));
  }

  async kill() {
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await ended;
  }

  async restart() {
    await this.kill();
    await sleep(300);
    await this.start();
  }

  async close() {
    await this.kill();
    rmSync(this.folder, { recursive: true });
  }
}

/** Serves bytes. A file with a gate waits in its middle until the gate is opened. Ranges continue it. */
export class Files {
  files = new Map();
  #gates = new Map();
  #server = createServer((request, response) => this.#answer(request, response));

  static async start() {
    const files = new Files();
    files.#server.listen(0, "127.0.0.1");
    await once(files.#server, "listening");
    files.url = `http://127.0.0.1:${files.#server.address().port}`;
    return files;
  }

  add(name, bytes, { isGated = false } = {}) {
    this.files.set(`/${name}`, bytes);
    if (isGated) {
      let open;
      const opened = new Promise((resolve) => (open = resolve));
      this.#gates.set(`/${name}`, { opened, open });
    }
    return `${this.url}/${name}`;
  }

  open(name) {
    this.#gates.get(`/${name}`).open();
  }

  async #answer(request, response) {
    const bytes = this.files.get(request.url);
    if (!bytes) return response.writeHead(404).end();
    const start = Number(/bytes=(\d+)-/.exec(request.headers.range)?.[1] ?? 0);
    const range = start ? { "Content-Range": `bytes ${start}-${bytes.length - 1}/${bytes.length}` } : {};
    response.writeHead(start ? 206 : 200, { ETag: '"1"', "Content-Length": bytes.length - start, ...range });
    const middle = Math.max(start, Math.floor(bytes.length / 2));
    const gate = this.#gates.get(request.url);
    if (gate) {
      response.write(bytes.subarray(start, middle));
      await gate.opened;
    }
    response.end(bytes.subarray(gate ? middle : start));
  }

  close() {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** Passes connections on, and can do to them what proxies do. */
export class Proxy {
  /** Whether the next request arrives, and its answer does not. */
  losesNextAnswer = false;
  #connections = new Set();
  #server = listen((client) => this.#accept(client));

  static async start(port, own = 0) {
    const proxy = new Proxy();
    proxy.port = port;
    proxy.#server.listen(own, "127.0.0.1");
    await once(proxy.#server, "listening");
    proxy.url = `http://127.0.0.1:${proxy.#server.address().port}`;
    return proxy;
  }

  #accept(client) {
    const server = connect(this.port, "127.0.0.1");
    for (const [one, other] of [[client, server], [server, client]]) {
      this.#connections.add(one);
      one.on("error", () => other.destroy()).on("close", () => (this.#connections.delete(one), other.destroy()));
    }
    client.pipe(server);
    if (this.losesNextAnswer) server.once("data", () => client.destroy());
    else server.pipe(client);
    this.losesNextAnswer = false;
  }

  /** What is being sent breaks off. */
  cut() {
    for (const connection of this.#connections) connection.destroy();
  }

  close() {
    this.#server.close();
    this.cut();
  }
}

/** A proxy whose service is away. */
export async function badGateway(port = 0) {
  const server = createServer((_, response) => response.writeHead(502, { "Content-Type": "text/html" }).end("<h1>Bad gateway</h1>"));
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return server;
}
