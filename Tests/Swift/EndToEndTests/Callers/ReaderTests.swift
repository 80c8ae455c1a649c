import Formats
import TestKit
import Testing

/// Callers that may not change a job do not see the query of its URL.
@Suite struct ReaderTests {
    @Test func readScopeSeesNoQueryOfURLs() async throws {
        let scene = try await Scene(.init(token: "first"))
        let job = try await scene.api.submit(scene.order("/file?signature=s3cret"))
        try await scene.api.waitForJob(job, .succeeded)
        let running = try await scene.api.submit(scene.order("/held?signature=s3cret"))
        try await scene.api.waitForBytes(running)
        let (reader, owner) = (try await scene.api.caller("read"), try await scene.api.caller("jobs"))
        let etag = "\"0.0\""
        let wait: [(name: String, value: String)] = [("Prefer", "wait=5"), ("If-None-Match", etag)]
        // Twice each, in turn: kept replies of one audience never reach the other.
        for _ in 0..<2 {
            for path in ["/v1/jobs", "/v1/jobs?state=succeeded", "/v1/jobs/\(job)", "/v1/jobs/\(running)"] {
                for headers in [[], wait] {
                    let (hidden, shown) = (
                        try await reader.get(path, headers: headers), try await owner.get(path, headers: headers)
                    )
                    #expect(hidden.status == 200 && shown.status == 200)
                    #expect(!hidden.text.contains("s3cret"), "\(path)")
                    #expect(shown.text.contains("s3cret"), "\(path)")
                }
            }
        }
        #expect(try await reader.get("/v1/jobs/\(running)/resume-data").problem?.kind == "forbidden")
        scene.gate.open()
    }
}
