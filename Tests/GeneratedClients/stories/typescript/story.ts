// A whole session through the client that openapi-generator makes for TypeScript (typescript-fetch).
// scripts/check clients explains the arguments.
import {
  BatchOutcome, ChecksumAlgorithm, Configuration, ConflictRule, Event, EventPattern, EventsApi, FailureCode, Job, JobsApi,
  JobState, OutstandingChoice, Problem, ProblemFromJSON, ResponseError, SessionsApi, SessionState, WebhooksApi,
} from "./client";

declare const process: { argv: string[]; exit(status: number): never };
declare function require(name: string): any;

async function main(url: string, token: string, origin: string, webhook: string, sha256: string): Promise<void> {
  const configuration = new Configuration({ basePath: url, accessToken: token });
  const [jobs, sessions] = [new JobsApi(configuration), new SessionsApi(configuration)];
  const session = "typescript";
  const sessionConfigurationInput = { directory: session, finishDelaySeconds: 0, retry: { maxAttempts: 2 } };
  const declared = await sessions.declareSession({ session, sessionConfigurationInput });
  expect(declared.state === SessionState.Idle, declared);
  const webhookInput = { url: webhook, events: new Set([EventPattern.Session]) };
  await new WebhooksApi(configuration).declareWebhook({ session, webhook: "consumer", webhookInput });

  const checksum = { algorithm: ChecksumAlgorithm.Sha256, value: sha256 };
  const destination = { onConflict: ConflictRule.Replace };
  const wanted = [
    { url: `${origin}/holiday.jpg`, session, tags: new Set(["holiday"]), checksum, destination },
    { url: `${origin}/missing.jpg`, session },
  ];
  const created = await jobs.createJobs({ jobsInput: { jobs: wanted }, idempotencyKey: session });
  const good = await ended(jobs, created.jobs[0].id);
  expect(good.state === JobState.Succeeded && good.failure === null, good);
  expect(good.file?.sha256 === sha256 && good.receipt?.status === 200, good);
  expect((await digest(await jobs.getJobFile({ id: good.id }))) === sha256, "the bytes are others");
  const missing = await ended(jobs, created.jobs[1].id);
  expect(missing.failure?.code === FailureCode.BadStatus && missing.failure.status === 404, missing);

  const finish = await finished(new EventsApi(configuration), session);
  expect(finish.data.outcome === BatchOutcome.PartlyFailed, finish);
  const after = await sessions.acknowledgeSession({ session, acknowledgement: { through: finish.id } });
  expect(after.acknowledgedThrough === finish.id, after);
  const problem = await mistake(jobs);
  expect(problem.status === 422 && problem.pointer === "/url", problem);
  await sessions.deleteSession({ session, outstanding: OutstandingChoice.Cancel });
  console.log("a whole session");
}

async function ended(jobs: JobsApi, id: string): Promise<Job> {
  for (let round = 0; round < 20; round += 1) {
    const job = await jobs.getJob({ id });
    if (job.finishedAt !== null) return job;
    try {
      await jobs.getJob({ id, ifNoneMatch: `"${job.revision}"`, prefer: "wait=5" });
    } catch (unchanged) {
      expect(unchanged instanceof ResponseError && unchanged.response.status === 304, unchanged);
    }
  }
  throw new Error(`${id} has not ended`);
}

async function finished(events: EventsApi, session: string): Promise<Event> {
  for (let round = 0; round < 20; round += 1) {
    const page = await events.listEvents({ session, type: EventPattern.SessionFinished, wait: 5 });
    if (page.events.length > 0) return page.events[0];
  }
  throw new Error("the session has not finished");
}

async function mistake(jobs: JobsApi): Promise<Problem> {
  try {
    await jobs.createJob({ jobInput: { url: "ftp://host/file" } });
  } catch (refusal) {
    if (refusal instanceof ResponseError) return ProblemFromJSON(await refusal.response.json());
    throw refusal;
  }
  throw new Error("a wrong URL was accepted");
}

async function digest(content: Blob): Promise<string> {
  const bytes = new Uint8Array(await content.arrayBuffer());
  return require("crypto").createHash("sha256").update(bytes).digest("hex");
}

function expect(holds: boolean, what: unknown): void {
  if (!holds) throw new Error(JSON.stringify(what));
}

const [url, token, origin, webhook, sha256] = process.argv.slice(2);
main(url, token, origin, webhook, sha256).catch((failure) => {
  console.error(failure);
  process.exit(1);
});
