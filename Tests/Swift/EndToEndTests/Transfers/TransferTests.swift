import Formats
import Foundation
import TestKit
import Testing

/// The events of a transfer. Outcomes by server are documented in docs/transfers.md, and tested from there.
@Suite struct TransferTests {
    private let bytes = Content.random(seed: 9, count: 600_000)

    @Test func writesEventForEveryStepOfResumption() async throws {
        let (fetchd, origin) = (try await LocalService.start(), try Origin())
        origin.serve("/f", .file(bytes), .resetting(after: 300_000).once)
        let id = try await fetchd.api.submit(["url": .string(origin.url("/f")), "retry": ["base_seconds": 0.01]])
        try await fetchd.api.waitForJob(id, .succeeded)
        #expect(
            try await fetchd.api.types(of: id) == [
                "job.created", "job.started", "job.waiting", "job.started", "job.resumed", "job.succeeded",
            ])
    }

    @Test func resumesRetriedJobFromItsBytes() async throws {
        let (fetchd, origin) = (try await LocalService.start(), try Origin())
        origin.serve("/f", .file(bytes), .closing(after: 300_000).once, .answering(404).on(2...2))
        let id = try await fetchd.api.submit(["url": .string(origin.url("/f")), "retry": ["base_seconds": 0.01]])
        #expect(try await fetchd.api.waitForJob(id, .failed)["failure"]["code"] == "link_expired")
        #expect(try await fetchd.api.post("/v1/jobs/\(id)/retry").status == 200)
        let done = try await fetchd.api.waitForJob(id, .succeeded)
        #expect(done["resume"] == ["decision": "resumed", "why": nil, "offset": 300_000])
        #expect(done["batch"].integer.map { $0 >= 1 } == true)
        #expect(fetchd.downloaded("f") == bytes)
        #expect(origin.requests(to: "/f").count == 3)
    }

    @Test func waitsForRetryAfterUnlessResumed() async throws {
        let (fetchd, origin) = (try await LocalService.start(), try Origin())
        origin.serve("/f", .fixed(status: 503, headers: [("Retry-After", "3600")]))
        let id = try await fetchd.api.submit(["url": .string(origin.url("/f"))])
        let job = try await fetchd.api.waitForJob(id, toBe: "waiting") { $0["state"] == "waiting" }
        #expect(job["reason"] == "retry")
        let until = try #require(job["retry_at"].string.flatMap { Date(rfc3339: $0) })
        #expect(until.timeIntervalSinceNow > 3500)
        // The client resumes the job earlier.
        origin.serve("/f", .file(bytes))
        #expect(try await fetchd.api.post("/v1/jobs/\(id)/resume").status == 200)
        try await fetchd.api.waitForJob(id, .succeeded)
    }
}
