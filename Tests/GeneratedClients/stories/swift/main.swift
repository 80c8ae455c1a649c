// A whole session through the client that openapi-generator makes for Swift. scripts/check clients explains the arguments.
import FetchdClient
import Foundation

struct Unexpected: Error { var what: String }

func require(_ holds: Bool, _ what: Any) throws { if !holds { throw Unexpected(what: "\(what)") } }

func ended(_ id: String) async throws -> Job {
    for _ in 0..<20 {
        let job = try await JobsAPI.getJob(id: id)
        if job.finishedAt != nil { return job }
        do {
            _ = try await JobsAPI.getJob(id: id, ifNoneMatch: "\"\(job.revision)\"", prefer: "wait=5")
        } catch .error(let status, _, _, let failure) {
            try require(status == 304, failure)
        }
    }
    throw Unexpected(what: "\(id) has not ended")
}

func finished() async throws -> Event {
    for _ in 0..<20 {
        let page = try await EventsAPI.listEvents(wait: 5, session: "swift", type: .sessionPeriodFinished)
        if let event = page.events.first { return event }
    }
    throw Unexpected(what: "the session has not finished")
}

func mistake() async throws -> Problem {
    do {
        _ = try await JobsAPI.createJob(jobInput: JobInput(url: "ftp://host/file"))
    } catch .error(_, let body?, _, _) {
        return try JSONDecoder().decode(Problem.self, from: body)
    }
    throw Unexpected(what: "a wrong URL was accepted")
}

let arguments = CommandLine.arguments
let (origin, webhook, sha256) = (arguments[3], arguments[4], arguments[5])
FetchdClientAPIConfiguration.shared.basePath = arguments[1]
FetchdClientAPIConfiguration.shared.customHeaders = ["Authorization": "Bearer \(arguments[2])"]

let configuration = SessionConfigurationInput(
    retry: RetryPolicyInput(maxAttempts: 2), directory: "swift", finishDelaySeconds: 0)
let declared = try await SessionsAPI.declareSession(session: "swift", sessionConfigurationInput: configuration)
try require(declared.state == .idle, declared)
_ = try await WebhooksAPI.declareWebhook(
    session: "swift", webhook: "consumer", webhookInput: WebhookInput(url: webhook, events: [.sessionPeriodStar]))

let good = JobInput(
    url: "\(origin)/holiday.jpg", session: "swift", destination: DestinationInput(onConflict: .replace),
    tags: ["holiday"],
    checksum: ChecksumInput(algorithm: .sha256, value: sha256))
let missing = JobInput(url: "\(origin)/missing.jpg", session: "swift")
let created = try await JobsAPI.createJobs(jobsInput: JobsInput(jobs: [good, missing]), idempotencyKey: "swift")
let downloaded = try await ended(created.jobs[0].id)
try require(downloaded.state == .succeeded && downloaded.failure == nil, downloaded)
try require(downloaded.file?.sha256 == sha256 && downloaded.receipt?.status == 200, downloaded)
let file = try await JobsAPI.getJobFile(id: downloaded.id)
try require(try Data(contentsOf: file).count == Int(downloaded.file?.size ?? 0), "the size is another")
let failed = try await ended(created.jobs[1].id)
try require(failed.failure?.code == .badStatus && failed.failure?.status == 404, failed)

let finish = try await finished()
try require(finish.data["outcome"]?.stringValue == BatchOutcome.partlyFailed.rawValue, finish)
let session = try await SessionsAPI.acknowledgeSession(
    session: "swift", acknowledgement: Acknowledgement(through: finish.id))
try require(session.acknowledgedThrough == finish.id, session)
let problem = try await mistake()
try require(problem.status == 422 && problem.pointer == "/url", problem)
_ = try await SessionsAPI.deleteSession(session: "swift", outstanding: .cancel)
print("a whole session")
