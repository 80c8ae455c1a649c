import Formats
import Foundation
import TestKit
import Testing

/// `fetchd migrate-store`: a real service goes on in PostgreSQL with all that it had in SQLite.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct MigrateStoreTests {
    private let server: PostgresServer
    private let origin: Origin
    private let receiver: WebhookReceiver
    /// The film is held in the middle, until the job is paused.
    private let gate = Gate()
    private let film = Content.random(seed: 1, count: 4_000_000)

    init() async throws {
        server = try await PostgresServer(.durable)
        (origin, receiver) = (try Origin(), try WebhookReceiver())
        origin.serve("/film", .file(film), OriginBehaviour.waiting(at: 1_000_000, for: gate).once)
        origin.serve("/small", .file(Content.random(seed: 2, count: 1000)))
    }

    private func migrate(_ folder: TemporaryFolder, _ environment: [String: String] = [:]) async throws
        -> ChildProcess.Outcome
    {
        let to = environment.isEmpty ? ["--to", server.url()] : []
        return try await FetchdProcess.run(
            ["migrate-store", "--from", folder.path("data")] + to, environment: environment)
    }

    /// Jobs in several states, and a download that is paused in the middle.
    private func fill(_ fetchd: FetchdProcess) async throws -> (secret: String, paused: String, token: String) {
        let api = fetchd.api
        let secret = try await api.declareWebhook(url: receiver.url, events: ["job.*", "session.*"])
        let succeeded = try await api.submit(["url": .string(origin.url("/small")), "tags": ["a"]])
        try await api.waitForJob(succeeded, .succeeded)
        let failed = try await api.submit(["url": .string(origin.url("/none"))])
        try await api.waitForJob(failed, .failed)
        let paused = try await api.submit(["url": .string(origin.url("/film"))])
        try await api.waitForBytes(paused, atLeast: 500_000)
        #expect(try await api.post("/v1/jobs/\(paused)/pause").status == 200)
        try await api.submit(["url": .string(origin.url("/small")), "not_before": "2100-01-01T00:00:00Z"])
        let cancelled = try await api.submit(["url": .string(origin.url("/small")), "state": "paused"])
        #expect(try await api.post("/v1/jobs/\(cancelled)/cancel").status == 200)
        let settings: JSON = ["max_concurrent_jobs": 7]
        #expect(try await api.send("PATCH", "/v1/service", settings).status == 200)
        let token = try await api.post("/v1/tokens", ["name": "reader", "scope": "read"])
        _ = try await receiver.waitFor("job.cancelled")
        return (secret, paused, try #require(token.json["token"].string, "\(token)"))
    }

    /// Another data folder has been used with the empty database, so the migrated service is not its node 1.
    private func startOnce(withKeyOf folder: TemporaryFolder) async throws {
        let arguments = ["--store", server.url(), "--key-file", folder.path("data/fetchd.key")]
        try await FetchdProcess.start(.init(arguments: arguments)).stop()
    }

    @Test(.onSQLite) func aServiceGoesOnInPostgres() async throws {
        let sqlite = try await FetchdProcess.start(.init(token: "administrator"))
        try await startOnce(withKeyOf: sqlite.folder)
        let (secret, paused, token) = try await fill(sqlite)
        let refused = try await migrate(sqlite.folder)
        #expect(refused.ending == .exited(1) && refused.errors.contains("belongs to another fetchd"), "\(refused)")
        try await sqlite.stop()
        // After the stop nothing changes any more.
        try await sqlite.restart()
        let (jobs, events) = (try await sqlite.api.get("/v1/jobs?limit=1000").json, try await sqlite.api.events())
        try await sqlite.stop()

        let outcome = try await migrate(sqlite.folder)
        #expect(outcome.succeeded, "\(outcome)")
        #expect(outcome.output.contains(/\njobs +5 +5\n/), "\(outcome)")
        #expect(outcome.output.contains("the key file \(sqlite.folder.path("data/fetchd.key"))"), "\(outcome)")
        let again = try await migrate(sqlite.folder, ["FETCHD_STORE": server.url()])
        #expect(again.ending == .exited(1) && again.errors.contains("has data already"), "\(again)")

        let fetchd = try await FetchdProcess.start(
            .init(arguments: ["--store", server.url()], token: "administrator"), in: sqlite.folder)
        let api = fetchd.api
        #expect(try await api.get("/v1/jobs?limit=1000").json == jobs)
        #expect(try await api.events() == events)
        #expect(try await api.get("/v1/service").json["max_concurrent_jobs"] == 7)
        #expect(try await APIClient(baseURL: fetchd.baseURL, token: token).get("/v1/jobs").status == 200)
        try await expectResumption(of: paused, fetchd)
        let finish = try await receiver.waitFor("job.succeeded", count: 2).last
        #expect(finish?.isSigned(with: secret) == true)
        let numbers = try await api.events().compactMap { $0["id"].integer }
        #expect(numbers.count > events.count && numbers == numbers.indices.map { Int64($0) + 1 }, "\(numbers)")
        try await fetchd.stop()
    }

    /// The download continues at its offset, with the bytes in the downloads folder.
    private func expectResumption(of job: String, _ fetchd: FetchdProcess) async throws {
        let durable = try #require(try await fetchd.api.job(job)["progress"]["bytes_durable"].integer)
        #expect(durable >= 500_000)
        #expect(try await fetchd.api.post("/v1/jobs/\(job)/resume").status == 200)
        let ended = try await fetchd.api.waitForJob(job, .succeeded)
        #expect(origin.requests(to: "/film").last?.header("Range") == "bytes=\(durable)-")
        #expect(fetchd.downloaded(try #require(ended["file"]["path"].string)) == film)
    }

    @Test func namesWhatIsMissing() async throws {
        let folder = try TemporaryFolder()
        let without = try await FetchdProcess.run(["migrate-store", "--from", folder.path("data")])
        #expect(without.ending == .exited(64) && without.errors.contains("--to or FETCHD_STORE"), "\(without)")
        let absent = try await migrate(folder)
        #expect(absent.ending == .exited(1) && absent.errors.contains("it does not exist"), "\(absent)")
    }
}
