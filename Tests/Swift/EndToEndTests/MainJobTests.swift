import Foundation
import TestKit
import Testing

/// The main use: submit a batch, go away, and receive a webhook when it is finished.
@Suite struct MainJobTests {
    @Test func downloadsBatchAndPostsFinish() async throws {
        let (fetchd, origin, receiver) = (try await FetchdProcess.start(), try Origin(), try WebhookReceiver())
        let files = (0..<20).map { Content.random(seed: UInt64($0), count: $0 * 7919) }
        for (index, bytes) in files.enumerated() { origin.serve("/\(index).bin", .file(bytes)) }
        try await fetchd.api.declareSession("films", ["max_concurrent_jobs": 4])
        let secret = try await fetchd.api.declareWebhook(
            of: "films", url: receiver.url, events: ["session.finished", "job.*"])
        let answer = try await fetchd.api.post(
            "/v1/jobs/batch",
            [
                "jobs": .array(
                    files.indices.map { ["url": .string(origin.url("/\($0).bin")), "session": "films"] })
            ])
        #expect(answer.status == 201)

        let finish = try await receiver.waitFor("session.finished")
        #expect(finish.isSigned(with: secret))
        #expect(finish.data["outcome"] == "succeeded")
        #expect(finish.data["counts"]["succeeded"] == .integer(20))
        for (index, bytes) in files.enumerated() { #expect(fetchd.downloaded("\(index).bin") == bytes) }
        #expect(origin.maxConcurrentRequests <= 4)

        // Every other event of the batch was delivered before its finish.
        let types = receiver.received.map(\.type)
        #expect(types.last == "session.finished")
        #expect(types.count(where: { $0 == "job.succeeded" }) == 20)
        #expect(receiver.received.allSatisfy { $0.isSigned(with: secret) })
        _ = try await eventually("the finish to be acknowledged") {
            try await fetchd.api.session("films")["unacknowledged_since"] == .null ? true : nil
        }
    }

    @Test func showsFileAndReceiptOfFinishedJob() async throws {
        let (fetchd, origin) = (try await FetchdProcess.start(), try Origin())
        let bytes = Content.random(seed: 1, count: 100_000)
        origin.serve(
            "/report",
            .file(
                bytes, contentType: "text/plain", headers: [("Content-Disposition", "attachment; filename=\"a b.txt\"")]
            ))
        let id = try await fetchd.api.submit([
            "url": .string(origin.url("/report")), "tags": ["x"], "metadata": ["n": 1],
        ])
        let job = try await fetchd.api.waitForJob(id, .succeeded)
        #expect(job["file"]["path"] == "a b.txt")
        #expect(job["file"]["size"] == 100_000)
        #expect(job["file"]["sha256"] == .string(SHA.hexadecimal(of: bytes)))
        #expect(job["file"]["content_type"] == "text/plain")
        #expect(job["receipt"]["status"] == 200)
        #expect(job["receipt"]["etag"] == "\"v1\"")
        #expect(job["receipt"]["length_verified"] == true)
        #expect(job["receipt"]["attempts"] == 1)
        #expect(job["progress"]["fraction"] == 1)
        #expect(job["tags"] == ["x"])
        #expect(job["metadata"] == ["n": 1])
        #expect(
            try await fetchd.api.events(of: id).map { $0["type"] } == ["job.created", "job.started", "job.succeeded"])
    }

    @Test func resumesFromOffsetAfterStop() async throws {
        let (fetchd, origin) = (try await FetchdProcess.start(), try Origin())
        let bytes = Content.random(seed: 2, count: 3_000_000)
        let gate = Gate()
        origin.serve("/big", .file(bytes), .waiting(at: 2_000_000, for: gate).once)
        let id = try await fetchd.api.submit(["url": .string(origin.url("/big"))])
        try await fetchd.api.waitForBytes(id, atLeast: 1_500_000)
        #expect(try await fetchd.terminate() == .exited(0))
        try await fetchd.restart()
        let job = try await fetchd.api.waitForJob(id, .succeeded)
        #expect(job["resume"]["decision"] == "resumed")
        let offset = try #require(job["resume"]["offset"].integer)
        #expect(offset >= 1_500_000)
        #expect(origin.requests(to: "/big").map { $0.header("Range") } == [nil, "bytes=\(offset)-"])
        #expect(origin.requests(to: "/big").last?.header("If-Range") == "\"v1\"")
        #expect(fetchd.downloaded("big") == bytes)
        // A stop uses no attempt.
        #expect(job["attempts"] == 1)
    }

    @Test func resumesFromLastCheckpointAfterKill() async throws {
        let (fetchd, origin) = (try await FetchdProcess.start(), try Origin())
        let bytes = Content.random(seed: 3, count: 3_000_000)
        let gate = Gate()
        origin.serve("/big", .file(bytes), .waiting(at: 2_000_000, for: gate).once)
        let id = try await fetchd.api.submit(["url": .string(origin.url("/big"))])
        let before = try await fetchd.api.waitForBytes(id, durable: true)
        try await fetchd.kill()
        try await fetchd.restart()
        let job = try await fetchd.api.waitForJob(id, .succeeded)
        #expect(job["resume"]["decision"] == "resumed")
        #expect(try #require(job["resume"]["offset"].integer) >= #require(before["progress"]["bytes_durable"].integer))
        #expect(job["file"]["sha256"] == .string(SHA.hexadecimal(of: bytes)))
        #expect(fetchd.downloaded("big") == bytes)
    }
}
