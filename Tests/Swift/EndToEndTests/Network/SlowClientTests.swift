import Foundation
import TestKit
import Testing

/// Clients that send slowly, and never come to an end.
@Suite struct SlowClientTests {
    private static let count = 2_000

    private static let beginnings = [
        "", "GET /v1/jo", "GET /v1/jobs HTTP/1.1\r\nHost: local",
        "GET /v1/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n",
        "POST /v1/jobs/batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 30000000\r\n\r\n{\"jobs\": [",
        "POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"ur",
    ]

    @Test(.enabled("needs 4,000 file descriptors") { FileDescriptors.limit >= 4_000 })
    func doNotKeepOthersFromAnswers() async throws {
        let fetchd = try await FetchdProcess.start()
        let slow = try (0..<Self.count).map { number in
            try SilentClient(fetchd.port, Self.beginnings[number % Self.beginnings.count])
        }
        _ = try await eventually("the service to have accepted all of them") {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/\(fetchd.pid)/fd").count > Self.count
                ? true : nil
        }
        for _ in 0..<100 { #expect(try await fetchd.api.get("/livez").status == 200) }
        #expect(try await fetchd.api.get("/v1/jobs").status == 200)
        withExtendedLifetime(slow) {}
    }
}
