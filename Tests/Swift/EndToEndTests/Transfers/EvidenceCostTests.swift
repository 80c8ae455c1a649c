import Formats
import TestKit
import Testing

/// What a resume by evidence costs: a large file whose connection breaks after two fifths, from a server without strong tags.
@Suite struct EvidenceCostTests {
    @Test func aResumeFetchesAtMostTheOverlapAndTheSamplesAgain() async throws {
        let scene = try await Scene()
        let bytes = Content.random(seed: 36, count: 50_000_000)
        scene.origin.serve("/f", .file(bytes, etag: "W/\"v1\""), .closing(after: 20_000_000).once)
        let job = try await scene.outcome("/f", ("resume_policy", "evidence"))
        #expect(job["state"] == "succeeded" && job["receipt"]["resumed_by"] == "evidence", "\(job.written)")
        #expect(scene.has("f", bytes))
        let kept = try #require(job["resume"]["offset"].integer)
        let requests = scene.ranges("/f").compactMap(\.self)
        let samples = requests.compactMap { range -> Int64? in
            let ends = range.dropFirst("bytes=".count).split(separator: "-").compactMap { Int64($0) }
            return ends.count == 2 ? ends[1] - ends[0] + 1 : nil
        }
        let begin = try #require(requests.last.flatMap { Int64($0.dropFirst("bytes=".count).dropLast()) })
        // The file was cut at 20 MB; what was not yet on disk then is lost in any case.
        #expect(kept > 0 && samples.count == 3 && samples.reduce(0, +) <= 48 << 10, "\(requests)")
        #expect(kept - begin <= 64 << 10 && kept - begin >= 0, "\(requests)")
    }
}
