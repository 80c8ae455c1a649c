import Foundation
import TestKit
import Testing

/// A queued job costs one row: memory, start-up time and admission depend on running jobs only.
///
/// The usual run compares some thousands of jobs with a few; `FETCHD_MANY_QUEUED=100000` (scripts/check many-queued) compares
/// that many with a thousand, and prints the figures.
@Suite(.realProcess) struct ManyQueuedTests {
    private static let wanted = ProcessInfo.processInfo.environment["FETCHD_MANY_QUEUED"].flatMap { Int($0) }

    private struct Cost: CustomStringConvertible {
        var jobs: Int
        /// Resident bytes after submission, and after a restart.
        var submitted: Int
        var restarted: Int
        /// From the start of the process to `/readyz`, and until all slots are taken.
        var readiness: Duration
        var admission: Duration
        /// The shortest time from POST to success of a small job in another session.
        var latency: Duration

        var description: String {
            """
            \(jobs) queued: \(submitted >> 20) MiB after submission, \(restarted >> 20) MiB after a restart, ready in \
            \(readiness), slots taken after \(admission), a job beside them takes \(latency)
            """
        }
    }

    @Test func queuedJobsCostNeitherMemoryNorTime() async throws {
        let few = try await cost(of: Self.wanted == nil ? 100 : 1000)
        let many = try await cost(of: Self.wanted ?? 5000)
        if Self.wanted != nil { print("\(few)\n\(many)") }
        #expect(many.restarted - few.restarted < 40 << 20, "\(few)\n\(many)")
        // The bounds leave room for a busy machine, and are below a cost per queued job that a user would notice.
        #expect(many.readiness < few.readiness + .seconds(10), "\(few)\n\(many)")
        #expect(many.admission < few.admission + .seconds(10), "\(few)\n\(many)")
        #expect(many.latency < few.latency + .seconds(2), "\(few)\n\(many)")
    }

    private func cost(of count: Int) async throws -> Cost {
        let scene = try await Scene()
        scene.holdResumedDownloads()
        let api = scene.api
        try await api.declareSession("archive", ["max_concurrent_jobs": 4])
        for start in stride(from: 0, to: count, by: 10_000) {
            let urls = (start..<min(start + 10_000, count)).map { scene.origin.url("/held?\($0)") }
            try await api.submit(all: urls.map { ["url": .string($0), "session": "archive"] })
        }
        #expect(await scene.gate.reached(by: 4))
        let submitted = try residentBytes(scene.process)

        try await scene.process.kill()
        let start = ContinuousClock.now
        try await scene.process.restart()
        let readiness = ContinuousClock.now - start
        #expect(await scene.gate.reached(by: 8))
        let admission = ContinuousClock.now - start
        let latency = try await latency(scene)
        #expect(try await scene.api.counts(of: "archive") == ["running": 4, "queued": Int64(count) - 4])
        return Cost(
            jobs: count, submitted: submitted, restarted: try residentBytes(scene.process), readiness: readiness,
            admission: admission, latency: latency)
    }

    private func latency(_ scene: Scene) async throws -> Duration {
        var latencies: [Duration] = []
        for index in 0..<15 {
            let start = ContinuousClock.now
            let id = try await scene.api.submit(scene.order("/file?\(index)"))
            try await scene.api.waitForJob(id, .succeeded)
            latencies.append(ContinuousClock.now - start)
        }
        return try #require(latencies.min())
    }

    /// Resident memory as Linux reports it (proc_pid_status(5)).
    private func residentBytes(_ fetchd: FetchdProcess) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(fetchd.pid)/status", encoding: .utf8)
        let kilobytes = status.firstMatch(of: /VmRSS:\s+([0-9]+) kB/).flatMap { Int($0.1) }
        return try #require(kilobytes) * 1024
    }
}
