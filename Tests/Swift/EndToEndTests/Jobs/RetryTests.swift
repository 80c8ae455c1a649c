import Formats
import Foundation
import TestKit
import Testing

/// Slow, silent and busy servers: how long the service waits for them, and when it retries.
@Suite struct RetryTests {
    private let bytes = Content.random(seed: 15, count: 600_000)

    /// The `job.waiting` events of a job.
    private func waits(of id: String, _ api: APIClient) async throws -> [JSON] {
        try await api.events(of: id).filter { $0["type"] == "job.waiting" }
    }

    private func delays(of id: String, _ api: APIClient) async throws -> [Double] {
        try await waits(of: id, api).compactMap { event in
            guard let until = event["data"]["retry_at"].date, let at = event["time"].date else { return nil }
            return until.timeIntervalSince(at)
        }
    }

    // MARK: Time limits

    @Test func retriesSilentServerAfterRequestTimeout() async throws {
        let scene = try await Scene()
        scene.origin.serve("/f", .file(bytes), .silent.on(1...1), .stalling(after: 200_000).on(2...2))
        let id = try await scene.api.submit(
            scene.order("/f", ("timeouts", ["request_seconds": 3]), ("retry", ["base_seconds": 0])))
        try await scene.api.waitForJob(id, .succeeded)
        #expect(scene.origin.requests.map { $0.header("Range") } == [nil, nil, "bytes=200000-"])
        #expect(scene.fetchd.downloaded("f") == bytes)
        let lines = scene.fetchd.log.split(separator: "\n").filter { $0.contains(id) && $0.contains("timed_out") }
        #expect(lines.count == 2, "\(scene.fetchd.log)")
    }

    @Test func failsWithTimedOutAfterLastAttempt() async throws {
        let scene = try await Scene()
        scene.origin.serve("/f", .file(bytes), .silent)
        let id = try await scene.api.submit(
            scene.order(
                "/f", ("timeouts", ["request_seconds": 0.2]), ("retry", ["base_seconds": 0, "max_attempts": 2])))
        let job = try await scene.api.waitForJob(id, .failed)
        #expect(job["failure"]["code"] == "timed_out")
        #expect(job["failure"]["attempts"] == 2)
    }

    /// The port neither accepts nor refuses the connection.
    @Test func failsWithTimedOutWhenConnectionIsNotAccepted() async throws {
        let (scene, port) = (try await Scene(), try UnresponsivePort())
        let id = try await scene.api.submit([
            "url": .string("http://127.0.0.1:\(port.number)/f"), "timeouts": ["connect_seconds": 0.2],
            "retry": ["base_seconds": 0, "max_attempts": 2],
        ])
        let job = try await scene.api.waitForJob(id, .failed)
        #expect(job["failure"]["code"] == "timed_out")
        #expect(job["failure"]["message"].string?.contains("did not take the connection") == true)
        #expect(job["attempts"] == 2)
    }

    @Test func appliesSessionTimeoutsToItsJobs() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession(
            "hasty", ["timeouts": ["request_seconds": 0.2], "retry": ["base_seconds": 0, "max_attempts": 1]])
        scene.origin.serve("/f", .file(bytes), .silent)
        let hasty = try await scene.api.submit(scene.order("/f", ("session", "hasty")))
        let patient = try await scene.api.submit(
            scene.order("/f", ("session", "hasty"), ("timeouts", ["request_seconds": 60])))
        #expect(try await scene.api.waitForJob(hasty, .failed)["failure"]["code"] == "timed_out")
        try await scene.api.waitForJob(patient, .running)
    }

    /// A slow transfer is not silent: only the minimum speed ends it.
    @Test func retriesServerBelowMinimumSpeed() async throws {
        let scene = try await Scene(.init { $0.engine.minimumSpeedSeconds = 2 })
        try await scene.api.declareSession("brisk", ["minimum_bytes_per_second": 50_000])
        scene.origin.serve("/f", .file(bytes), .limited(bytesPerSecond: 5000).once)
        let id = try await scene.api.submit(
            scene.order(
                "/f", ("session", "brisk"), ("retry", ["base_seconds": 0]), ("timeouts", ["request_seconds": 60]))
        )
        let job = try await scene.api.waitForJob(id, .succeeded)
        #expect(job["attempts"] == 2)
        #expect(job["resume"]["decision"] == "resumed")
        #expect(scene.fetchd.downloaded("f") == bytes)
        #expect(scene.fetchd.log.contains("too_slow"))
        let wait = try #require(await waits(of: id, scene.api).first)
        #expect(wait["data"]["reason"] == "retry")
    }

    @Test func failsWithTooSlowAfterLastAttempt() async throws {
        let scene = try await Scene(.init { $0.engine.minimumSpeedSeconds = 0.3 })
        try await scene.api.declareSession("brisk", ["minimum_bytes_per_second": 1_000_000])
        // Without a validator an attempt cannot continue the previous one.
        scene.origin.serve("/f", .file(bytes, etag: nil), .limited(bytesPerSecond: 20_000))
        let id = try await scene.api.submit(
            scene.order("/f", ("session", "brisk"), ("retry", ["base_seconds": 0, "max_attempts": 1])))
        let job = try await scene.api.waitForJob(id, .failed)
        #expect(job["failure"]["code"] == "too_slow")
        #expect(job["failure"]["message"].string?.contains("minimum_bytes_per_second") == true)
    }

    // MARK: Delays

    /// Each delay is random between zero and a bound that doubles; the test checks the bounds.
    @Test func drawsRandomDelaysBelowDoublingBound() async throws {
        let scene = try await Scene()
        scene.origin.serve("/f", .fixed(status: 500))
        let ids = try await scene.api.submit(
            all: (0..<12).map {
                scene.order("/f?\($0)", ("retry", ["base_seconds": 0.04, "max_seconds": 0.16, "max_attempts": 5]))
            })
        var delays: [[Double]] = []
        for id in ids {
            let job = try await scene.api.waitForJob(id, .failed)
            #expect(job["failure"]["code"] == "bad_status")
            #expect(job["failure"]["status"] == 500)
            #expect(job["failure"]["attempts"] == 5)
            delays.append(try await self.delays(of: id, scene.api))
        }
        #expect(delays.allSatisfy { $0.count == 4 })
        for (step, bound) in [0.04, 0.08, 0.16, 0.16].enumerated() {
            // The delays are written a moment after they were drawn, with a precision of one millisecond.
            #expect(delays.allSatisfy { $0[step] <= bound + 0.002 })
        }
        #expect(Set(delays.map { $0[3] }).count > 3)
    }

    @Test(arguments: [
        ("60", 59.0...60.1), ("3600", 3500...3601), ("99999999999", 86_000...86_401), ("0", 0...1.1), ("-5", 0...0.1),
        ("soon", 0...0.1), ("1.5", 0...0.1), ("", 0...0.1), ("Thu, 01 Jan 1970 00:00:00 GMT", 0...1.1),
        ("Fri, 99 Foo 2099 00:00:00 GMT", 0...0.1), ("18446744073709551616000", 86_000...86_401),
        // fetchd waits one day at most, even if the server names a later date.
        ("Fri, 31 Dec 2199 23:59:59 GMT", 86_000...86_401),
    ])
    func lengthensDelayByRetryAfterWithinBounds(_ value: String, _ expected: ClosedRange<Double>) async throws {
        let scene = try await Scene()
        scene.origin.serve(
            "/f", .fixed(status: 503, headers: [("Retry-After", value)]), .serving(.file(bytes)).on(2...))
        let id = try await scene.api.submit(scene.order("/f", ("retry", ["base_seconds": 0.01])))
        let delay = try await eventually("the job's first wait") { try await delays(of: id, scene.api).first }
        // Some time passes between drawing and writing the delay, on a busy machine several seconds.
        #expect(expected.lowerBound - 30...expected.upperBound ~= delay, "\(value): \(delay)")
    }

    @Test(arguments: [
        "EEE, dd MMM yyyy HH:mm:ss 'GMT'", "EEEE, dd-MMM-yy HH:mm:ss 'GMT'", "EEE MMM d HH:mm:ss yyyy",
    ])
    func readsRetryAfterAsHTTPDate(_ form: String) async throws {
        let scene = try await Scene()
        let until = Date(timeIntervalSinceNow: 1800)
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = form
        scene.origin.serve("/f", .fixed(status: 429, headers: [("Retry-After", format.string(from: until))]))
        let id = try await scene.api.submit(scene.order("/f"))
        let job = try await scene.api.waitForJob(id, .waiting)
        #expect(abs(try #require(job["retry_at"].date).timeIntervalSince(until)) < 2)
    }

    @Test(arguments: [408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524])
    func retriesTransientStatus(_ status: Int) async throws {
        let scene = try await Scene()
        scene.origin.serve("/f", .file(bytes), .answering(status).once)
        let id = try await scene.api.submit(scene.order("/f", ("retry", ["base_seconds": 0])))
        // A refusal because of too many requests does not count.
        #expect(try await scene.api.waitForJob(id, .succeeded)["attempts"] == (status == 429 ? 1 : 2))
    }

    // MARK: Counting

    /// The connection breaks more often than attempts are allowed; every attempt that brings bytes resets the count.
    @Test func resetsAttemptCountOnProgress() async throws {
        let scene = try await Scene()
        scene.origin.serve("/f", .file(bytes), .closing(after: 50_000).first(11))
        let id = try await scene.api.submit(scene.order("/f", ("retry", ["base_seconds": 0, "max_attempts": 2])))
        let job = try await scene.api.waitForJob(id, .succeeded)
        #expect(job["attempts"] == 12)
        #expect(scene.fetchd.downloaded("f") == bytes)
        #expect(
            scene.origin.requests.map { $0.header("Range") }
                == [nil] + (1...11).map { "bytes=\($0 * 50_000)-" })
    }

    /// Bytes that cannot be resumed are not progress, nor are bytes of a file whose ETag changes every time.
    @Test(arguments: ["unmarked", "changing"]) func countsAttemptsWhoseBytesCannotBeResumed(_ kind: String) async throws
    {
        let scene = try await Scene()
        let changing = OriginBehaviour(spoil: { answer, exchange in answer.set("ETag", "\"v\(exchange.ordinal)\"") })
        scene.origin.serve(
            "/f", .file(bytes, etag: kind == "unmarked" ? nil : "\"v\""), .ignoringRanges,
            changing.when { _ in
                kind == "changing"
            }, .closing(after: 50_000))
        let id = try await scene.api.submit(scene.order("/f", ("retry", ["base_seconds": 0, "max_attempts": 3])))
        let job = try await scene.api.waitForJob(id, .failed)
        #expect(job["failure"]["code"] == "truncated")
        #expect(job["failure"]["attempts"] == 3)
    }

    @Test func exhaustsAttemptsWithoutProgress() async throws {
        let scene = try await Scene()
        scene.origin.serve(
            "/f", .file(bytes), .closing(after: 50_000).once, .answering(502).on(2...3), .hangingUp.on(4...))
        let id = try await scene.api.submit(scene.order("/f", ("retry", ["base_seconds": 0, "max_attempts": 4])))
        let job = try await scene.api.waitForJob(id, .failed)
        // The first attempt counts too; the failure is that of the last attempt.
        #expect(job["failure"]["code"] == "connection_lost")
        #expect(job["failure"]["attempts"] == 4)
        #expect(job["progress"]["bytes_durable"] == 50_000)
    }

    /// No name below `.invalid` exists (RFC 2606). Without a DNS server, the answer would be that the server fails.
    private static var resolverKnowsThatNamesAreMissing: Bool {
        var found: UnsafeMutablePointer<addrinfo>?
        return getaddrinfo("fetchd.invalid", nil, nil, &found) == EAI_NONAME
    }

    @Test(.enabled(if: resolverKnowsThatNamesAreMissing, "needs a DNS server"))
    func exhaustsAttemptsOnUnknownName() async throws {
        let scene = try await Scene()
        let id = try await scene.api.submit([
            "url": "http://fetchd.invalid/f", "retry": ["base_seconds": 0, "max_attempts": 3],
        ])
        let job = try await scene.api.waitForJob(id, .failed)
        #expect(job["failure"]["code"] == "name_resolution_failed")
        #expect(job["failure"]["attempts"] == 3)
    }

    // MARK: Waits that use no attempts

    /// TCP has no route to a broadcast address: Linux answers ENETUNREACH, as without any route.
    @Test func waitsForNetworkWithoutUsingAttempts() async throws {
        let scene = try await Scene()
        let id = try await scene.api.submit([
            "url": "http://127.255.255.255/f", "retry": ["max_attempts": 1, "base_seconds": 0],
        ])
        for _ in 0..<3 {
            let job = try await scene.api.waitForJob(id, .waiting)
            #expect(job["reason"] == "network")
            #expect(job["attempts"] == 0)
            let until = try #require(job["retry_at"].date)
            #expect(0...15 ~= until.timeIntervalSinceNow)
            try await scene.api.act(.resume, on: id)
            _ = try await scene.api.waitForJob(id, toBe: "waiting again") {
                $0["state"] == "waiting" && $0["retry_at"].date != until
            }
        }
        // The network is reachable again.
        try await scene.api.change(id, ["url": .string(scene.origin.url("/file"))])
        try await scene.api.act(.resume, on: id)
        #expect(try await scene.api.waitForJob(id, .succeeded)["attempts"] == 1)
    }
}
