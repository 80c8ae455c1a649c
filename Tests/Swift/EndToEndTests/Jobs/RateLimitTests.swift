import Formats
import TestKit
import Testing

/// Bytes per second of a job, a session and the service. Loopback would transfer each file in milliseconds; the limits
/// are far below that on any machine, and the assertions leave wide margins.
@Suite struct RateLimitTests {
    private static let size = 50_000_000
    private static let rate: Int64 = 1_000_000
    private static let bytes = Content.random(seed: 20, count: size)

    /// A rate, as far as two readings tell it whose moments are not known exactly.
    private struct Measured {
        var least: Double
        var most: Double
    }

    private func stage(_ arguments: [String] = []) async throws -> (fetchd: FetchdProcess, origin: Origin) {
        let (fetchd, origin) = (try await FetchdProcess.start(.init(arguments: arguments)), try Origin())
        origin.serve("/file", .file(Self.bytes))
        return (fetchd, origin)
    }

    /// The bytes per second that the jobs receive together over five seconds, measured once all of them have begun.
    private func rate(of ids: [String], _ api: APIClient) async throws -> Measured {
        typealias Reading = (before: ContinuousClock.Instant, bytes: Int64, after: ContinuousClock.Instant)
        func read() async throws -> Reading {
            let before = ContinuousClock.now
            var sum: Int64 = 0
            for id in ids { sum += try await api.job(id)["progress"]["bytes_received"].integer ?? 0 }
            return (before, sum, .now)
        }
        for id in ids { try await api.waitForBytes(id) }
        let first = try await read()
        return try await eventually("five seconds to measure") {
            let last = try await read()
            let shortest = (last.before - first.after) / .seconds(1)
            guard shortest >= 5 else { return nil }
            let bytes = Double(last.bytes - first.bytes)
            return Measured(least: bytes / ((last.after - first.before) / .seconds(1)), most: bytes / shortest)
        }
    }

    /// Checks that a rate is close to the limit, with wide margins.
    private func expectKept(_ measured: Measured, sourceLocation: SourceLocation = #_sourceLocation) {
        let limit = Double(Self.rate)
        #expect(
            measured.most >= 0.2 * limit && measured.least <= 2 * limit, "\(measured)", sourceLocation: sourceLocation)
    }

    @Test func appliesChangesAndRemovesJobRateLimit() async throws {
        let (fetchd, origin) = try await stage()
        let id = try await fetchd.api.submit([
            "url": .string(origin.url("/file")), "rate_limit_bytes_per_second": .integer(Self.rate / 10),
        ])
        // Progress is updated in steps of up to 256 KiB.
        #expect(try await rate(of: [id], fetchd.api).least < Double(Self.rate) / 2)
        try await fetchd.api.change(id, ["rate_limit_bytes_per_second": .integer(Self.rate)])
        expectKept(try await rate(of: [id], fetchd.api))
        #expect(try await fetchd.api.job(id)["attempts"] == 1)
        // More than 30 MB are left; with the limit they would take five minutes.
        try await fetchd.api.change(id, ["rate_limit_bytes_per_second": .integer(Self.rate / 10)])
        let start = ContinuousClock.now
        try await fetchd.api.change(id, ["rate_limit_bytes_per_second": nil])
        try await fetchd.api.waitForJob(id, .succeeded)
        #expect(ContinuousClock.now - start < .seconds(60))
        #expect(fetchd.downloaded("file") == Self.bytes)
        #expect(origin.requests.count == 1)
    }

    @Test func appliesRateLimitSetDuringDownload() async throws {
        let (fetchd, origin) = try await stage()
        let gate = Gate()
        origin.serve("/file", .file(Self.bytes), .waiting(at: 100_000, for: gate))
        let id = try await fetchd.api.submit(["url": .string(origin.url("/file"))])
        try await fetchd.api.waitForBytes(id)
        try await fetchd.api.change(id, ["rate_limit_bytes_per_second": .integer(Self.rate)])
        gate.open()
        expectKept(try await rate(of: [id], fetchd.api))
        #expect(try await fetchd.api.job(id)["state"] == "running")
    }

    /// A session's limit applies to all its jobs together, and they share it evenly.
    @Test func sharesSessionRateLimitEvenlyAmongJobs() async throws {
        let (fetchd, origin) = try await stage()
        try await fetchd.api.declareSession("films", ["rate_limit_bytes_per_second": .integer(Self.rate)])
        let ids = try await fetchd.api.submit(
            all: (0..<2).map { ["url": .string(origin.url("/file?\($0)")), "session": "films"] })
        expectKept(try await rate(of: ids, fetchd.api))
        let shares = try await withThrowingTaskGroup(of: Measured.self) { group in
            for id in ids { group.addTask { try await rate(of: [id], fetchd.api) } }
            return try await group.reduce(into: [Measured]()) { $0.append($1) }
        }
        let (largest, smallest) = (shares.map(\.least).max(), shares.map(\.most).min())
        #expect(try #require(largest) < 3 * (try #require(smallest)), "\(shares)")
        // The limit does not apply to other sessions.
        let other = try await fetchd.api.submit(["url": .string(origin.url("/file?other"))])
        try await fetchd.api.waitForJob(other, .succeeded)
        #expect(try await fetchd.api.counts(of: "films") == ["running": 2])

        // The limit is changed while the jobs run, and is stored.
        let tenth: JSON = .integer(Self.rate / 10)
        try await fetchd.api.declareSession("films", ["rate_limit_bytes_per_second": tenth])
        // The limit applies within a second; progress is updated in steps of up to 256 KiB per job.
        _ = try await eventually("the lower limit to hold") {
            try await rate(of: ids, fetchd.api).most < Double(Self.rate) / 3 ? true : nil
        }
        #expect(try await fetchd.api.session("films")["configuration"]["rate_limit_bytes_per_second"] == tenth)
        try await fetchd.api.declareSession("films", [:])
        for id in ids { #expect(try await fetchd.api.waitForJob(id, .succeeded)["attempts"] == 1) }
    }

    @Test func appliesServiceRateLimitToAllJobsTogether() async throws {
        let (fetchd, origin) = try await stage(["--rate-limit-bytes-per-second", "\(Self.rate)"])
        try await fetchd.api.declareSession("films")
        let ids = try await fetchd.api.submit(
            all: ["default", "films"].map { ["url": .string(origin.url("/file?\($0)")), "session": .string($0)] })
        expectKept(try await rate(of: ids, fetchd.api))
    }

    /// The smallest of the three limits applies.
    @Test(arguments: ["job", "session", "service"]) func appliesSmallestRateLimit(_ smallest: String) async throws {
        func limit(_ whose: String) -> Int64 { whose == smallest ? Self.rate : Self.rate * 20 }
        let (fetchd, origin) = try await stage(["--rate-limit-bytes-per-second", "\(limit("service"))"])
        try await fetchd.api.declareSession("films", ["rate_limit_bytes_per_second": .integer(limit("session"))])
        let id = try await fetchd.api.submit([
            "url": .string(origin.url("/file")), "session": "films",
            "rate_limit_bytes_per_second": .integer(limit("job")),
        ])
        expectKept(try await rate(of: [id], fetchd.api))
    }

    @Test func keepsRateLimitsAfterKill() async throws {
        let (fetchd, origin) = try await stage()
        try await fetchd.api.declareSession("films", ["rate_limit_bytes_per_second": .integer(Self.rate * 20)])
        let id = try await fetchd.api.submit([
            "url": .string(origin.url("/file")), "session": "films", "rate_limit_bytes_per_second": 100_000,
        ])
        try await fetchd.api.waitForBytes(id)
        try await fetchd.api.change(id, ["rate_limit_bytes_per_second": .integer(Self.rate)])
        try await fetchd.kill()
        try await fetchd.restart()
        expectKept(try await rate(of: [id], fetchd.api))
    }

    @Test func refusesInvalidRateLimits() async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: .running)
        let (kind, pointer) = ("invalid-value", "/rate_limit_bytes_per_second")
        for limit: JSON in [0, -1, 1.5, "1000", []] {
            let members: JSON = ["rate_limit_bytes_per_second": limit]
            for answer in [
                try await scene.api.post("/v1/jobs", scene.order().with(["rate_limit_bytes_per_second": limit])),
                try await scene.api.put("/v1/sessions/films", members),
                try await scene.api.send("PATCH", "/v1/jobs/\(id)", members),
            ] {
                #expect(answer.status == 422)
                #expect(answer.problem == .init(kind: kind, pointer: pointer), "\(limit.written): \(answer)")
            }
        }
    }
}
