import Formats
import TestKit
import Testing

/// Expired links and demanded credentials need the client. The session writes one `session.waiting` event when none of
/// its other jobs can continue.
@Suite struct SessionWaitingTests {
    private let origin: Origin
    private let scene: Scene
    private var api: APIClient { scene.api }

    /// `/expiring` breaks off once and answers 403 afterwards; `/protected` demands credentials.
    init() async throws {
        scene = try await Scene()
        origin = scene.origin
        origin.serve("/expiring", .file(scene.bytes), .closing(after: 120_000).once, .answering(403).on(2...))
        origin.serve(
            "/protected", .fixed(status: 401, headers: [("WWW-Authenticate", #"Basic realm="The \"films\"""#)]))
        try await api.declareSession(
            "films",
            [
                "finish_delay_seconds": 0.05, "wait_for": ["credentials", "url"],
                "retry": ["base_seconds": 0.05, "max_seconds": 0.05],
            ])
    }

    private func submit(_ path: String) async throws -> String {
        try await api.submit(scene.order(path, ("session", "films")))
    }

    private func calls() async throws -> [JSON] { try await api.journal(of: "films", type: "session.waiting") }

    /// Checks that the session waits for its client: no finish is due or written.
    private func expectStandstill() async throws {
        let session = try await api.session("films")
        #expect(session["state"] == "active")
        #expect(session["finish_due_at"] == .null)
        #expect(try await api.finishes(of: "films") == [])
    }

    @Test func writesSessionWaitingWhenLinkExpires() async throws {
        let receiver = try WebhookReceiver()
        let secret = try await api.declareWebhook(of: "films", url: receiver.url)
        let id = try await submit("/expiring")
        let call = try await receiver.waitFor("session.waiting")
        #expect(call.isSigned(with: secret))
        #expect(call.data["counts"] == ["credentials": 0, "url": 1])
        #expect(call.data["jobs"] == [["job": .string(id), "reason": "url", "challenge": nil]])

        let job = try await api.job(id)
        #expect(job["state"] == "waiting")
        #expect(job["reason"] == "url")
        #expect(job["retry_at"] == .null)
        // The part has no byte of the error page, and is kept for the new URL.
        #expect(job["progress"]["bytes_durable"] == 120_000)
        let told = try #require(try await api.events(of: id).last)
        #expect(told["type"] == "job.waiting")
        #expect(told["data"]["reason"] == "url")
        #expect(told["data"]["failure"]["code"] == "link_expired")
        #expect(told["data"]["failure"]["status"] == 403)
        try await expectStandstill()

        // The URL works again, say after a login: received bytes are not fetched again.
        origin.serve("/expiring", .file(scene.bytes))
        #expect(try await api.post("/v1/jobs/\(id)/resume").status == 200)
        #expect(try await api.waitForJob(id, .succeeded)["resume"]["offset"] == 120_000)
        #expect(scene.fetchd.downloaded("expiring") == scene.bytes)
        #expect(try await api.waitForFinish(of: "films")["data"]["outcome"] == "succeeded")
        #expect(try await calls().count == 1)
    }

    @Test func writesSessionWaitingWithChallengeWhenCredentialsAreNeeded() async throws {
        let challenge: JSON = ["scheme": "basic", "realm": #"The "films""#]
        let id = try await submit("/protected")
        let job = try await api.waitForJob(id, .waiting)
        #expect(job["reason"] == "credentials")
        #expect(job["challenge"] == challenge)
        #expect(job["retry_at"] == .null)
        let events = try await api.journal(of: "films")
        #expect(JSON.types(of: events) == ["job.created", "job.started", "job.waiting", "session.waiting"])
        #expect(events[2]["data"]["challenge"] == challenge)
        #expect(events[2]["data"]["failure"]["code"] == "credentials_required")
        #expect(events[3]["job"] == .null)
        #expect(events[3]["data"]["counts"] == ["credentials": 1, "url": 0])
        #expect(
            events[3]["data"]["jobs"] == [["job": .string(id), "reason": "credentials", "challenge": challenge]])
        try await expectStandstill()
    }

    /// The job's empty `wait_for` overrides the session's.
    @Test func failsWithoutSessionWaitingWhenJobWaitsForNothing() async throws {
        for (path, code) in [("/protected", "credentials_required"), ("/expiring", "link_expired")] {
            let order = scene.order(path, ("session", "films"), ("wait_for", []))
            let job = try await api.waitForJob(api.submit(order), .failed)
            #expect(job["failure"]["code"].string == code)
        }
        // A 401 without a challenge does not ask for credentials.
        origin.serve("/silent", .fixed(status: 401))
        let order = scene.order("/silent", ("session", "films"), ("wait_for", ["credentials"]))
        let job = try await api.waitForJob(api.submit(order), .failed)
        #expect(job["failure"]["code"] == "bad_status")
        #expect(try await calls() == [])
    }

    @Test func writesSessionWaitingOnlyWhenNoOtherJobRuns() async throws {
        let running = try await submit("/held")
        try await api.waitForBytes(running)
        let stuck = try await submit("/expiring")
        try await api.waitForJob(stuck, toBe: "waiting for a link") { $0["reason"] == "url" }
        #expect(try await calls() == [])
        scene.gate.open()
        try await api.waitForJob(running, .succeeded)
        // The event is written in the same commit as the success.
        #expect(try await calls().map { $0["data"]["jobs"][0]["job"].string } == [stuck])
        try await expectStandstill()
    }

    /// A paused job can continue without new credentials or a new URL.
    @Test func writesNoSessionWaitingWhileAnotherJobIsPaused() async throws {
        let paused = try await submit("/held")
        try await api.waitForBytes(paused)
        #expect(try await api.post("/v1/jobs/\(paused)/pause").status == 200)
        let stuck = try await submit("/protected")
        try await api.waitForJob(stuck, .waiting)
        #expect(try await calls() == [])
        #expect(try await api.delete("/v1/jobs/\(paused)").status == 204)
        #expect(try await calls().map { $0["data"]["jobs"].count } == [1])
    }

    @Test(.realProcess) func writesSessionWaitingAgainOnlyAfterAnotherAttempt() async throws {
        let first = try await submit("/protected")
        try await api.waitForJob(first, .waiting)
        #expect(try await calls().count == 1)
        // Neither a restart nor a declaration without a body writes it again.
        try await scene.process.kill()
        try await scene.process.restart()
        try await api.declareSession("films")
        #expect(try await calls().count == 1)
        // The client resumes the job, which gets stuck again.
        #expect(try await api.post("/v1/jobs/\(first)/resume").status == 200)
        try await api.waitForJob(first, toBe: "stuck again") { $0["state"] == "waiting" && $0["attempts"] == 2 }
        #expect(try await calls().count == 2)
        // Another job is created, and gets stuck too.
        let second = try await submit("/protected")
        try await api.waitForJob(second, .waiting)
        #expect(try await calls().map { $0["data"]["counts"] }.last == ["credentials": 2, "url": 0])
        #expect(try await calls().count == 3)
        // Cancelling one stuck job does not write it again.
        #expect(try await api.post("/v1/jobs/\(second)/cancel").status == 200)
        #expect(try await calls().count == 3)
        try await expectStandstill()
    }

    @Test func writesOneSessionWaitingForManyBlockedJobs() async throws {
        let ids = try await api.submit(
            all: Array(repeating: scene.order("/protected", ("session", "films")), count: 20))
        for id in ids { try await api.waitForJob(id, .waiting) }
        let calls = try await calls()
        #expect(calls.count == 1)
        #expect(calls[0]["data"]["counts"] == ["credentials": 20, "url": 0])
        #expect(calls[0]["data"]["jobs"].arrayValue?.compactMap { $0["job"].string } == ids)
    }

    @Test func finishesWhenBlockedJobIsCancelled() async throws {
        let id = try await submit("/protected")
        try await api.waitForJob(id, .waiting)
        let answer = try await api.post("/v1/jobs/\(id)/cancel").json
        #expect(answer["state"] == "cancelled")
        #expect(answer["reason"] == .null)
        #expect(answer["challenge"] == .null)
        #expect(try await api.waitForFinish(of: "films")["data"]["outcome"] == "cancelled")
        #expect(try await calls().count == 1)
    }
}
