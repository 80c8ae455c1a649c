import Downloads
import Foundation
import TestKit
import Testing

/// Servers as they are: every answer leads to the right bytes, or to a failure that says why.
@Suite struct TransferTests {
    private let bytes = Content.random(seed: 9, count: 600_000)

    /// A job whose first attempt broke off after half of the bytes, then `later` is what the server is like.
    private func broken(
        _ resource: OriginResource, _ later: OriginBehaviour..., spec: [(String, JSON)] = []
    ) async throws -> (job: JSON, fetchd: FetchdProcess, origin: Origin) {
        let (fetchd, origin) = (try await FetchdProcess.start(), try Origin())
        let behaviours = later.map { $0.on(2...) }
        origin.serve("/f", resource, [.resetting(after: 300_000).once] + behaviours)
        var order: JSONObject = ["url": .string(origin.url("/f")), "retry": ["base_seconds": 0.01]]
        for (name, value) in spec { order[name] = value }
        let id = try await fetchd.api.submit(.object(order))
        let job = try await fetchd.api.waitForJob(id, toBe: "over") { ["succeeded", "failed"].contains($0["state"]) }
        return (job, fetchd, origin)
    }

    @Test func aLostConnectionIsResumed() async throws {
        let (job, fetchd, origin) = try await broken(.file(bytes))
        #expect(job["resume"]["decision"] == "resumed")
        #expect(fetchd.downloaded("f") == bytes)
        #expect(job["receipt"]["status"] == 206)
        #expect(origin.requests(to: "/f").count == 2)
        let types = try await fetchd.api.events(of: job["id"].string).map { $0["type"] }
        #expect(
            types == [
                "job.created", "job.started", "job.waiting", "job.started", "job.resumed", "job.succeeded",
            ])
    }

    @Test func aFileThatChangedIsNeverSpliced() async throws {
        let other = Content.random(seed: 10, count: 600_000)
        let (job, fetchd, _) = try await broken(
            .file(bytes), .serving(.file(other, etag: "\"v2\"")))
        #expect(job["resume"] == ["decision": "restarted", "why": "etag_changed", "offset": 0])
        #expect(fetchd.downloaded("f") == other)
    }

    @Test func aServerThatIgnoresRangesIsReadFromTheStart() async throws {
        let (job, fetchd, _) = try await broken(.file(bytes), .ignoringRanges)
        #expect(job["resume"] == ["decision": "restarted", "why": "range_ignored", "offset": 0])
        #expect(fetchd.downloaded("f") == bytes)
    }

    @Test func withoutAStrongValidatorNothingIsPutTogether() async throws {
        let (job, fetchd, origin) = try await broken(.file(bytes, etag: "W/\"weak\""))
        #expect(job["resume"] == ["decision": "restarted", "why": "no_validator", "offset": 0])
        #expect(origin.requests(to: "/f").allSatisfy { $0.header("Range") == nil })
        #expect(fetchd.downloaded("f") == bytes)
    }

    @Test func aRangeThatStartsEarlierIsTrimmed() async throws {
        let (job, fetchd, _) = try await broken(.file(bytes), .shiftingRanges(by: -1000))
        #expect(job["resume"]["decision"] == "resumed")
        #expect(fetchd.downloaded("f") == bytes)
    }

    @Test func aRangeThatStartsLaterIsAskedForAgainFromTheStart() async throws {
        let (job, fetchd, _) = try await broken(.file(bytes), .shiftingRanges(by: 1000))
        #expect(job["resume"] == ["decision": "restarted", "why": "bad_range", "offset": 0])
        #expect(fetchd.downloaded("f") == bytes)
    }

    @Test func aLinkThatExpiredFailsAndKeepsTheBytes() async throws {
        let page = OriginResource.fixed(status: 403, body: Array("<h1>Forbidden</h1>".utf8))
        let (job, fetchd, _) = try await broken(.file(bytes), .serving(page))
        #expect(job["state"] == "failed")
        #expect(job["failure"]["code"] == "link_expired")
        #expect(job["failure"]["status"] == 403)
        #expect(try #require(job["progress"]["bytes_durable"].integer) > 0)
        #expect(fetchd.downloaded("f") == nil)
    }

    @Test func aRetryOfAFailedJobGoesOnFromItsBytes() async throws {
        let (job, fetchd, origin) = try await broken(.file(bytes), .answering(404).on(2...2))
        #expect(job["failure"]["code"] == "link_expired")
        let id = try #require(job["id"].string)
        #expect(try await fetchd.api.post("/v1/jobs/\(id)/retry").status == 200)
        let done = try await fetchd.api.waitForJob(id, .succeeded)
        #expect(done["resume"]["decision"] == "resumed")
        #expect(done["batch"].integer.map { $0 >= 1 } == true)
        #expect(fetchd.downloaded("f") == bytes)
        #expect(origin.requests(to: "/f").count == 3)
    }

    private func outcome(
        _ resource: OriginResource, _ behaviours: OriginBehaviour..., spec: [(String, JSON)] = []
    ) async throws -> (job: JSON, fetchd: FetchdProcess, origin: Origin) {
        let (fetchd, origin) = (try await FetchdProcess.start(), try Origin())
        origin.serve("/f", resource, behaviours)
        var order: JSONObject = [
            "url": .string(origin.url("/f")), "retry": ["base_seconds": 0.01, "max_attempts": 2],
        ]
        for (name, value) in spec { order[name] = value }
        let id = try await fetchd.api.submit(.object(order))
        let job = try await fetchd.api.waitForJob(id, toBe: "over") { ["succeeded", "failed"].contains($0["state"]) }
        return (job, fetchd, origin)
    }

    @Test(arguments: [
        (404, "bad_status"), (500, "bad_status"), (401, "bad_status"), (204, "bad_status"), (418, "bad_status"),
    ])
    func statusesThatFail(_ status: Int, _ code: String) async throws {
        let (job, _, origin) = try await outcome(.fixed(status: status))
        #expect(job["failure"]["code"] == .string(code))
        #expect(job["failure"]["status"] == .integer(Int64(status)))
        #expect(origin.requests.count == (status == 500 ? 2 : 1))
        #expect(job["failure"]["attempts"] == .integer(status == 500 ? 2 : 1))
    }

    @Test func wireFaultsFailWithTheirNames() async throws {
        // Only what is waited for in vain is not waited for long.
        let cases: [(OriginBehaviour, patience: Double, String)] = [
            (.closing(after: 1000), 60, "truncated"), (.resetting(after: 1000), 60, "connection_lost"),
            (.stalling(after: 1000), 0.5, "timed_out"), (.silent, 0.5, "timed_out"),
            (.hangingUp, 60, "connection_lost"), (.garbage(), 60, "connection_lost"),
        ]
        let (fetchd, origin) = (try await FetchdProcess.start(), try Origin())
        for (index, (behaviour, patience, code)) in cases.enumerated() {
            // No validator: a part that cannot be continued is no progress to go on from.
            origin.serve("/\(index)", .file(bytes, etag: nil), behaviour)
            let id = try await fetchd.api.submit([
                "url": .string(origin.url("/\(index)")), "timeouts": ["request_seconds": .number(patience)],
                "retry": ["max_attempts": 1],
            ])
            let job = try await fetchd.api.waitForJob(id, toBe: "failed") { $0["state"] == "failed" }
            #expect(job["failure"]["code"] == .string(code), "\(job["failure"].written)")
        }
    }

    @Test func bytesGainedBeginTheCountOfFailuresAnew() async throws {
        let (fetchd, origin) = (try await FetchdProcess.start(), try Origin())
        origin.serve("/f", .file(bytes), .resetting(after: 100_000).first(5))
        let id = try await fetchd.api.submit([
            "url": .string(origin.url("/f")), "retry": ["base_seconds": 0.01, "max_attempts": 2],
        ])
        let job = try await fetchd.api.waitForJob(id, .succeeded)
        #expect(job["attempts"] == 6)
        #expect(fetchd.downloaded("f") == bytes)
    }

    @Test func aBodyOfUnknownEndIsTakenButNotVouchedFor() async throws {
        let (job, fetchd, _) = try await outcome(.file(bytes), .withoutLength)
        #expect(job["state"] == "succeeded")
        #expect(job["receipt"]["length_verified"] == false)
        #expect(fetchd.downloaded("f") == bytes)
    }

    @Test func chunkedBodiesAndInterimResponses() async throws {
        let (job, fetchd, _) = try await outcome(.file(bytes), .chunked(), .interim())
        #expect(job["receipt"]["length_verified"] == true)
        #expect(fetchd.downloaded("f") == bytes)
    }

    @Test func sizesThatAreNotWanted() async throws {
        let unknown = try await outcome(.file(bytes), .chunked(), spec: [("max_size", 100_000)]).job
        #expect(unknown["failure"]["code"] == "too_large")
        let known = try await outcome(.file(bytes), spec: [("max_size", 100_000)])
        #expect(known.job["failure"]["code"] == "too_large")
        #expect(known.fetchd.folder.files.filter { $0.hasSuffix(".part") }.isEmpty)
        let other = try await outcome(.file(bytes), spec: [("expected_size", 5)]).job
        #expect(other["failure"]["code"] == "size_mismatch")
        let right = try await outcome(.file(bytes), .withoutLength, spec: [("expected_size", 600_000)]).job
        #expect(right["receipt"]["length_verified"] == true)
    }

    @Test func anEmptyFile() async throws {
        let (job, fetchd, _) = try await outcome(.file([]))
        #expect(job["state"] == "succeeded")
        #expect(job["file"]["size"] == 0)
        #expect(job["progress"]["fraction"] == 1)
        #expect(fetchd.downloaded("f") == [])
    }

    @Test func redirectsAreFollowedWithoutTheHeadersOfAnotherOrigin() async throws {
        let elsewhere = try Origin()
        elsewhere.serve("/target.bin", .file(bytes))
        let (job, fetchd, origin) = try await outcome(
            .redirect(to: elsewhere.url("/target.bin")), spec: [("headers", ["X-Api-Key": "secret"])])
        #expect(job["state"] == "succeeded")
        #expect(job["receipt"]["final_url"] == .string(elsewhere.url("/target.bin")))
        #expect(job["receipt"]["redirects"] == [.string(origin.url("/f"))])
        #expect(origin.requests.first?.header("X-Api-Key") == "secret")
        #expect(elsewhere.requests.first?.header("X-Api-Key") == nil)
        // The name is that of the URL asked for.
        #expect(fetchd.downloaded("f") == bytes)
    }

    @Test func aRedirectLoopEnds() async throws {
        let (job, _, origin) = try await outcome(.redirect(to: "/f"))
        #expect(job["failure"]["code"] == "too_many_redirects")
        #expect(origin.requests.count == 21)
    }

    @Test func aRedirectToAnotherSchemeIsNotFollowed() async throws {
        let (job, _, _) = try await outcome(.redirect(to: "file:///etc/passwd"))
        #expect(job["failure"]["code"] == "bad_url")
    }

    @Test func retryAfterIsHonoured() async throws {
        let (fetchd, origin) = (try await FetchdProcess.start(), try Origin())
        origin.serve("/f", .fixed(status: 503, headers: [("Retry-After", "3600")]))
        let id = try await fetchd.api.submit(["url": .string(origin.url("/f"))])
        let job = try await fetchd.api.waitForJob(id, toBe: "waiting") { $0["state"] == "waiting" }
        #expect(job["reason"] == "retry")
        let until = try #require(job["retry_at"].string.flatMap { Date(rfc3339: $0) })
        #expect(until.timeIntervalSinceNow > 3500)
        // Somebody knows better.
        origin.serve("/f", .file(bytes))
        #expect(try await fetchd.api.post("/v1/jobs/\(id)/resume").status == 200)
        try await fetchd.api.waitForJob(id, .succeeded)
    }
}
