import Downloads
import Formats
import Foundation
import TestKit
import Testing

/// Hundreds of jobs whose names are never resolved, or whose host drops every packet: they delay no other job.
@Suite(
    .enabled(if: NameServer.isPossible, "This machine gives ordinary users neither port 53 nor mounts of their own."))
struct DeadHostTests {
    private static let many = 500

    private struct Stage {
        let scene: Scene
        let names: NameServer
        let port: UnresponsivePort

        var api: APIClient { scene.api }
    }

    /// A service with slots for all jobs, and two sessions of such jobs, all of them running.
    private func stage(
        _ answer: NameServer.Answer, connectSeconds: Double,
        named host: @Sendable (Int) -> String = { "dead-\($0).test" }
    ) async throws -> Stage {
        let names = try NameServer { _ in answer }
        let options = FetchdProcess.Options(
            arguments: ["--max-concurrent-jobs", "1200", "--max-connections-per-host", "1200"],
            launcher: names.launcher)
        let stage = Stage(scene: try await Scene(process: options), names: names, port: try UnresponsivePort())
        let configuration: JSON = [
            "timeouts": ["connect_seconds": .number(connectSeconds)], "retry": ["base_seconds": 3600],
        ]
        for session in ["nameless", "silent"] { try await stage.api.declareSession(session, configuration) }
        let urls: [(session: String, url: String)] = (0..<Self.many).flatMap { index in
            [
                ("nameless", "http://\(host(index)):81/file"),
                ("silent", "http://127.0.0.1:\(stage.port.number)/\(index)"),
            ]
        }
        try await stage.api.submit(all: urls.map { ["session": .string($0.session), "url": .string($0.url)] })
        for session in ["nameless", "silent"] {
            try await stage.api.waitForSession(session, toBe: "under way") {
                $0.counts == ["running": Int64(Self.many)]
            }
        }
        return stage
    }

    // MARK: Other jobs

    @Test func downloadsFromOtherHostsMeanwhile() async throws {
        let stage = try await stage(.never, connectSeconds: 600)
        let (api, scene) = (stage.api, stage.scene)
        // Downloads from other hosts, by name and by address, one after the other and many at once.
        for _ in 0..<10 { try await api.waitForJob(api.submit(scene.order()), .succeeded) }
        let others = try await api.submit(all: (0..<50).map { scene.order("/file?\($0)") })
        for id in others { try await api.waitForJob(id, .succeeded) }
        #expect(try await api.counts(of: "nameless") == ["running": 500])
        #expect(try await api.counts(of: "silent") == ["running": 500])

        // Actions on stuck jobs do not wait for a lookup, for one job and for all.
        let slowest = try await slowestAction(api)
        #expect(slowest < .seconds(20), "\(slowest)")
        let pausing = ContinuousClock.now
        #expect(try await api.perform("pause", onAllOf: "silent").counts == ["paused": 490, "cancelled": 10])
        #expect(try await api.perform("pause", onAllOf: "nameless").counts == ["paused": 490, "cancelled": 10])
        #expect(ContinuousClock.now - pausing < .seconds(20))
        for session in ["nameless", "silent"] { try await api.perform("resume", onAllOf: session) }
        try await api.waitForSession("nameless", toBe: "under way again") { $0.counts["running"] == 490 }

        // A loop that waits for a lookup would block until the resolver gives up, after 150 s.
        try await expectNoLag(api)
        // A resumed job waits for the lookup that its name already has.
        let lookups = try await api.metric("fetchd_name_lookups", ["loop": "downloads", "state": "running"])
        #expect((1...500).contains(try #require(lookups)))
        #expect(try threads(of: scene.process) < 600)
    }

    /// The longest time in which a request about a stuck job was answered.
    private func slowestAction(_ api: APIClient) async throws -> Duration {
        var slowest = Duration.zero
        for session in ["nameless", "silent"] {
            let jobs = try await api.get("/v1/jobs?session=\(session)&limit=20").json["jobs"].arrayValue ?? []
            for (index, id) in jobs.compactMap({ $0["id"].string }).enumerated() {
                let start = ContinuousClock.now
                let (action, state) = index < 10 ? (JobSignal.Action.pause, "paused") : (.cancel, "cancelled")
                #expect(try await api.act(action, on: id)["state"].string == state)
                slowest = max(slowest, ContinuousClock.now - start)
            }
        }
        return slowest
    }

    @Test(.realProcess) func stopsDespiteStuckJobs() async throws {
        let stage = try await stage(.never, connectSeconds: 60)
        let start = ContinuousClock.now
        #expect(try await stage.scene.process.terminate() == .exited(0))
        // A stop that waits for a lookup would take the 25 s of `--stop-timeout`.
        #expect(ContinuousClock.now - start < .seconds(20))
        try await stage.scene.process.restart()
        for session in ["nameless", "silent"] {
            try await stage.api.waitForSession(session, toBe: "under way again") { $0.counts == ["running": 500] }
        }
        // A stop uses no attempt.
        let jobs = try await stage.api.get("/v1/jobs?limit=1000").json["jobs"].arrayValue ?? []
        #expect(jobs.count == 2 * Self.many)
        #expect(jobs.allSatisfy { $0["attempts"] == 1 })
    }

    /// This takes a minute. No attempt may end before all jobs run, so the name server answers after 25 seconds, which is long
    /// before the time to connect is over.
    @Test func retriesEveryJobWithItsOwnCause() async throws {
        let stage = try await stage(.unknown(after: .seconds(25)), connectSeconds: 60)
        let api = stage.api
        for session in ["nameless", "silent"] {
            // Read from the journal: of so many jobs, one or two draw a delay near zero.
            let waits = try await eventually("all of \(session) to wait") {
                let waits = try await api.journal(of: session, type: "job.waiting")
                return Set(waits.compactMap { $0["job"].string }).count == Self.many ? waits : nil
            }
            #expect(waits.allSatisfy { $0["data"]["reason"] == "retry" })
        }
        let causes = stage.scene.fetchd.log.split(separator: "\n").filter { $0.contains("Attempt 1 of ") }
        #expect(causes.count { $0.contains(": name_resolution_failed, The name of dead-") } == 500)
        #expect(causes.count { $0.contains(": timed_out, 127.0.0.1:\(stage.port.number) did not take") } == 500)
        // A thousand attempts that end at the same moment cause no lag either.
        try await expectNoLag(api)
        let lookups = try await api.metric("fetchd_name_lookups", ["loop": "downloads", "state": "running"])
        #expect(try #require(lookups) < 50)
    }

    /// 500 jobs for one name give up every 0.1 seconds and retry; the name is looked up once (for either kind of
    /// address) while the answer is pending.
    @Test func looksUpNameOnceForManyJobs() async throws {
        let stage = try await stage(.never, connectSeconds: 60, named: { _ in "dead.test" })
        #expect(await stage.names.waitForQuestions(2))
        let api = stage.api
        try await api.declareSession("nameless", ["timeouts": ["connect_seconds": 0.1], "retry": ["base_seconds": 0]])
        for action in ["pause", "resume"] { try await api.perform(action, onAllOf: "nameless") }
        let ids = try await api.get("/v1/jobs?session=nameless&limit=1000").json["jobs"].arrayValue ?? []
        let last = try #require(ids.last?["id"].string)
        let job = try await api.waitForJob(last, toBe: "after several attempts") { ($0["attempts"].integer ?? 0) > 3 }
        #expect(job["state"] != "succeeded")
        #expect(stage.names.asked == ["dead.test", "dead.test"])
        try await expectNoLag(api)
    }

    // MARK: Metrics

    /// Checks the lag of the transfer thread within the last minute.
    private func expectNoLag(_ api: APIClient, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let lag = try #require(
            try await api.metric("fetchd_transfer_loop_lag_seconds", ["loop": "downloads"]),
            sourceLocation: sourceLocation)
        #expect(lag < 10, sourceLocation: sourceLocation)
    }

    private func threads(of fetchd: FetchdProcess) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(fetchd.pid)/task").count
    }
}
