// A program in TypeScript, which is compiled and not run: the declarations are enough for it.

import { Client, DownloadFailed, type Connection, type Job, type JobDocument } from "./fetchd";

const client = new Client("http://127.0.0.1:8080", { token: "correct-horse", patience: 5 });

export async function follow(url: string, show: (fraction: number | null) => void): Promise<JobDocument> {
  const job: Job = await client.add(url, { tags: ["films"], checksum: { algorithm: "md5", value: "" } });
  for await (const progress of job) show(progress.fraction);
  try {
    await job.wait({ timeout: 60, onProgress: ({ bytes_received }) => show(bytes_received) });
  } catch (error) {
    if (error instanceof DownloadFailed) console.error(error.code);
  }
  for await (const { state } of client.watch(job.id)) if (state === "waiting") await job.change({ url: null });
  // @ts-expect-error There is no such state.
  return job.state === "done" ? job.document : (await client.download(url)).document;
}

export async function listen(): Promise<void> {
  const session = await client.session("films", { max_concurrent_jobs: 2 });
  const { outcome, failures } = await session.waitForFinish();
  if (outcome === "partly_failed") console.error(failures.map(({ code }) => code));
  const onConnection = (connection: Connection) => connection.kind === "broken" && console.error(connection.error.message);
  for await (const event of session.events({ progress: true, onConnection })) console.log(event.type);
}
