import Formats
import Foundation
import PostgresClient
import TestKit
import Testing

/// The real program with its jobs in a real PostgreSQL server.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct PostgresServiceTests {
    private let server: PostgresServer
    private let fetchd: FetchdProcess

    init() async throws {
        server = try await PostgresServer(.durable)
        fetchd = try await FetchdProcess.start(.init(arguments: ["--store", server.url()]))
    }

    @Test func keepsItsJobsInTheServer() async throws {
        let (origin, receiver) = (try Origin(), try WebhookReceiver())
        origin.serve("/film", .file(Content.random(seed: 1, count: 300_000)))
        let secret = try await fetchd.api.declareWebhook(url: receiver.url, events: ["session.finished"])
        let job = try await fetchd.api.submit(["url": .string(origin.url("/film"))])
        let finish = try await receiver.waitFor("session.finished")
        #expect(finish.isSigned(with: secret) && finish.data["counts"]["succeeded"] == 1)
        #expect(!fetchd.folder.files.contains { $0.contains("sqlite") }, "\(fetchd.folder.files)")
        #expect(fetchd.log.contains("Database: postgres://fetchd@127.0.0.1:"), "\(fetchd.log)")
        #expect(try await fetchd.terminate() == .exited(0))
        try await fetchd.restart()
        #expect(try await fetchd.api.job(job)["state"] == "succeeded")
        let types = try await fetchd.api.events().compactMap { $0["type"].string }
        #expect(types == ["job.created", "job.started", "job.succeeded", "session.finished"])
    }

    @Test func completesJobsAcrossKillsOfServiceAndServer() async throws {
        let (origin, receiver) = (try Origin(), try WebhookReceiver())
        let files = (0..<60).map { Content.random(seed: $0, count: 100_000) }
        for (index, bytes) in files.enumerated() {
            origin.serve("/\(index)", .file(bytes), .limited(bytesPerSecond: 500_000))
        }
        _ = try await fetchd.api.declareWebhook(url: receiver.url, events: ["session.finished"])
        let answer = try await fetchd.api.post(
            "/v1/jobs/batch", ["jobs": .array(files.indices.map { ["url": .string(origin.url("/\($0)"))] })])
        #expect(answer.status == 201)
        for round in 0..<6 {
            try await succeeds(5 * (round + 1))
            if round.isMultiple(of: 2) {
                try await fetchd.kill()
                try await fetchd.restart()
            } else {
                try await server.kill()
                try await server.start()
            }
        }
        let finish = try await receiver.waitFor("session.finished")
        #expect(finish.data["counts"]["succeeded"] == 60)
        let jobs = try await list("/v1/jobs?limit=1000")["jobs"].arrayValue ?? []
        #expect(jobs.count == 60)
        for job in jobs {
            let path = try #require(job["file"]["path"].string)
            let index = try #require(job["url"].string?.split(separator: "/").last.flatMap { Int($0) })
            #expect(fetchd.downloaded(path) == files[index], "\(job.written)")
        }
        let events = try await list("/v1/events?limit=1000")["events"].arrayValue ?? []
        #expect(events.count { $0["type"] == "job.succeeded" } == 60)
        let numbers = events.compactMap { $0["id"].integer }
        #expect(numbers == numbers.indices.map { Int64($0) + 1 } && numbers.count > 120, "\(numbers)")
    }

    /// The settings are read after the database was opened. A lock holds them back until the server is paused.
    @Test func waitsForAServerThatGoesAwayDuringTheStart() async throws {
        #expect(try await fetchd.terminate() == .exited(0))
        let target = try PostgresTarget(url: server.url())
        let (holder, watcher) = (try PostgresConnection(to: target), try PostgresConnection(to: target))
        try holder.execute(script: "BEGIN; LOCK TABLE service_settings IN ACCESS EXCLUSIVE MODE")
        let starting = try await ChildProcess(
            FetchdProcess.program,
            [
                "serve", "--listen", "127.0.0.1:0", "--store", server.url(), "--data-dir",
                fetchd.folder.path("data"), "--downloads-dir", fetchd.folder.path("downloads"),
            ])
        _ = try await eventually("the read to wait") {
            let waiting = try watcher.execute(PostgresStatement("SELECT count(*) FROM pg_locks WHERE NOT granted"))
            return try waiting[0].value(0, as: Int64.self) > 0 ? true : nil
        }
        server.pause()
        _ = try await eventually("the service to try again") {
            starting.errors.contains("cannot read its settings yet") ? true : nil
        }
        server.resume()
        holder.close()
        _ = try await eventually("the service to be ready") { starting.errors.contains("is ready at") ? true : nil }
        starting.signal(SIGTERM)
        #expect(try await starting.waitForEnd() == .exited(0))
    }

    /// Waits until so many jobs have succeeded.
    private func succeeds(_ count: Int) async throws {
        _ = try await eventually("\(count) jobs to succeed") { () -> Bool? in
            try await list("/v1/jobs?state=succeeded&limit=1000")["jobs"].count >= count ? true : nil
        }
    }

    /// Waits until the service can answer. A node that could not renew its lease in time, also on a slow machine, cannot.
    private func list(_ path: String) async throws -> JSON {
        try await eventually("an answer to \(path)") {
            let answer = try? await fetchd.api.get(path)
            return answer?.status == 200 ? answer?.json : nil
        }
    }

    @Test func answers503WhileTheServerIsAwayAndContinues() async throws {
        let origin = try Origin()
        origin.serve("/film", .file(Content.random(seed: 1, count: 1000)))
        let body: JSON = ["url": .string(origin.url("/film"))]
        #expect(try await fetchd.api.post("/v1/jobs", body).status == 201)
        try await server.stop(.fast)
        let refused = try await fetchd.api.post("/v1/jobs", body)
        #expect(refused.status == 503 && refused.header("retry-after") != nil, "\(refused)")
        #expect(try await fetchd.api.get("/v1/events").status == 503)
        #expect(try await fetchd.api.get("/livez").status == 200)
        let readiness = try await fetchd.api.get("/readyz")
        #expect(readiness.status == 503, "\(readiness)")
        try await server.start()
        _ = try await eventually("fetchd to be ready again") {
            try await fetchd.api.get("/readyz").status == 200 ? true : nil
        }
        #expect(try await fetchd.api.post("/v1/jobs", body).status == 201)
        _ = try await eventually("both jobs to succeed") {
            try await fetchd.api.get("/v1/jobs?state=succeeded").json["jobs"].count == 2 ? true : nil
        }
    }

    /// The metrics from the database are missing. The others show that no node leads.
    private func expectMetricsOfTheFault() async throws {
        let scrape = try await Scrape(of: fetchd.api)
        #expect(scrape.values["fetchd_node_is_leader"] == 0)
        #expect((0...3).contains(scrape.values["fetchd_node_lease_seconds"] ?? -1))
        #expect(scrape.values["fetchd_healthy{part=\"database\"}"] == 0)
        #expect(scrape.metrics["fetchd_jobs"] == nil && scrape.metrics["fetchd_nodes"] == nil)
    }

    /// As on SQLite: the default of the start does not limit what a client allows.
    @Test func aClientAllowsMoreJobsThanTheDefault() async throws {
        let answer = try await fetchd.api.send("PATCH", "/v1/service", ["max_concurrent_jobs": 100])
        #expect(answer.json["effective"]["max_concurrent_jobs"] == 100, "\(answer)")
        #expect(try await fetchd.api.get("/v1/stats").json["slots"]["max"] == 100)
        _ = try await eventually("the node to be listed with it") {
            try await fetchd.api.get("/v1/nodes").json["nodes"][0]["slots"] == 100 ? true : nil
        }
    }

    /// A paused server, or one behind a network that drops packets, refuses nothing, and answers nothing.
    @Test func answers503WhileTheServerDoesNotAnswer() async throws {
        let body: JSON = ["url": "http://127.0.0.1:9/file", "not_before": "2999-01-01T00:00:00Z"]
        #expect(try await fetchd.api.post("/v1/jobs", body).status == 201)
        server.pause()
        // Until its lease ends, the service waits for the server. A round trip may take 30 seconds.
        async let read = fetchd.api.get("/v1/events")
        async let change = fetchd.api.post("/v1/jobs", body)
        let statuses = [try await read.status, try await change.status]
        #expect(statuses == [503, 503])
        let readiness = try await fetchd.api.get("/readyz")
        #expect(readiness.status == 503, "\(readiness)")
        #expect(try await fetchd.api.get("/v1/events").status == 503)
        #expect(try await fetchd.api.post("/v1/jobs", body).status == 503)
        try await expectMetricsOfTheFault()
        server.resume()
        _ = try await eventually("fetchd to continue") {
            try await fetchd.api.post("/v1/jobs", body).status == 201 ? true : nil
        }
    }
}
