import Formats
import TestKit
import Testing

/// Connections are kept for later requests to the same host.
@Suite struct KeptConnectionTests {
    @Test func downloadsOfOneHostShareOneConnection() async throws {
        let scene = try await Scene()
        try await scene.api.declareSession("s", ["max_concurrent_jobs": 1])
        let jobs = (0..<10).map { number in
            scene.order("/file", ("session", "s"), ("destination", ["filename": .string("\(number)")]))
        }
        for job in jobs { try await scene.api.waitForJob(scene.api.submit(job), .succeeded) }
        #expect(scene.origin.requests(to: "/file").count == 10)
        #expect(scene.origin.connectionCount == 1)
    }

    @Test func redirectAndItsTargetShareOneConnection() async throws {
        let scene = try await Scene()
        scene.origin.serve("/moved", .fixed(status: 302, headers: [("Location", "/file")]))
        try await scene.api.waitForJob(scene.api.submit(scene.order("/moved")), .succeeded)
        #expect(scene.origin.connectionCount == 1)
    }

    /// A server that offers HTTP/2 is asked for HTTP/1.1: see decision 20.
    @Test(.enabled(if: TLSOrigin.isAvailable)) func downloadsOverTLSShareOneConnection() async throws {
        let (scene, server) = (try await Scene(), try await TLSOrigin())
        server.origin.serve("/file", .file(scene.bytes))
        try await scene.api.declareSession("s", ["tls": ["ca_file": .string(server.certificatePath)]])
        for number in 0..<5 {
            let job = try await scene.api.waitForJob(
                scene.api.submit([
                    "url": .string(server.url("/file")), "session": "s",
                    "destination": ["filename": .string("\(number)")],
                ]), .succeeded)
            #expect(job["receipt"]["protocol"] == "HTTP/1.1")
        }
        #expect(server.origin.connectionCount == 1)
    }
}
