import Foundation
import TestKit
import Testing

/// fetchd keeps everything it has acknowledged when it is killed at any moment.
@Suite struct CrashTests {
    /// The moments are random and repeatable: the seed is the test's argument.
    @Test(arguments: [UInt64(20_190_819)])
    func completesTwoHundredJobsAcrossTwentyKills(_ seed: UInt64) async throws {
        var random = SplitMix64(state: seed)
        let (fetchd, origin, receiver) = (try await FetchdProcess.start(), try Origin(), try WebhookReceiver())
        let files = (0..<200).map { index in
            Content.random(seed: seed + UInt64(index), count: Int.random(in: 0...200_000, using: &random))
        }
        for (index, bytes) in files.enumerated() {
            // About a tenth of a second each, so that the kills hit every phase.
            origin.serve("/\(index)", .file(bytes), .limited(bytesPerSecond: 1_000_000))
        }
        let secret = try await fetchd.api.declareWebhook(
            url: receiver.url, events: ["job.succeeded", "session.finished"])
        let answer = try await fetchd.api.post(
            "/v1/jobs/batch", ["jobs": .array(files.indices.map { ["url": .string(origin.url("/\($0)"))] })])
        let ids = try #require(answer.json["jobs"].arrayValue).compactMap { $0["id"].string }
        #expect(ids.count == 200)

        for _ in 0..<20 {
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...250, using: &random)))
            try await fetchd.kill()
            try await fetchd.restart()
        }

        let finish = try await receiver.waitFor("session.finished")
        #expect(finish.isSigned(with: secret))
        #expect(finish.data["outcome"] == "succeeded")
        #expect(finish.data["counts"]["succeeded"] == 200)
        for (index, id) in ids.enumerated() {
            let job = try await fetchd.api.job(id)
            #expect(job["state"] == "succeeded", "\(job.written)")
            #expect(fetchd.downloaded(try #require(job["file"]["path"].string)) == files[index], "\(job.written)")
        }
        // Each success is once in the journal, and at least once at the consumer, under one identifier.
        let successes = try await fetchd.api.events().filter { $0["type"] == "job.succeeded" }
        #expect(Set(successes.compactMap { $0["job"].string }) == Set(ids))
        #expect(successes.count == 200)
        let posted = receiver.received.filter { $0.type == "job.succeeded" }
        #expect(Set(posted.compactMap(\.id)).count == 200)
        #expect(fetchd.folder.files.filter { $0.hasSuffix(".part") }.isEmpty)
    }
}
