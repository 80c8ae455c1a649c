import TestKit
import Testing

/// A finish that no consumer acknowledges is reported to the operator, in the log and as a metric.
@Suite struct UnacknowledgedFinishTests {
    private static let metric = "fetchd_finish_unacknowledged_seconds{"

    private func finish(_ session: String, in scene: Scene) async throws -> Int64 {
        try await scene.api.declareSession(session, ["finish_delay_seconds": 0])
        try await scene.api.submit(scene.order("/file", ("session", .string(session))))
        return try #require(try await scene.api.waitForFinish(of: session)["id"].integer)
    }

    /// The metric's lines for a session, or for all sessions.
    private func metrics(_ scene: Scene, _ session: String? = nil) async throws
        -> [Substring]
    {
        try await scene.api.get("/metrics").text.split(separator: "\n").filter {
            $0.hasPrefix(Self.metric + (session.map { "session=\"\($0)\"" } ?? ""))
        }
    }

    @Test func logsAndMeasuresUnacknowledgedFinish() async throws {
        let scene = try await Scene(.init { $0.acknowledgementPatience = 0.2 })
        let forgotten = try await finish("forgotten", in: scene)
        let warning = try await eventually("a warning") {
            scene.fetchd.log.split(separator: "\n").first { $0.contains("never acknowledged") }
        }
        #expect(warning.contains(" warning "))
        #expect(warning.contains("session forgotten (event \(forgotten))"))
        #expect(warning.contains("POST /v1/sessions/forgotten/acknowledge"))
        let line = try #require(try await metrics(scene).first)
        #expect(line.hasPrefix(Self.metric + "session=\"forgotten\"} "))
        let age = try #require(line.split(separator: " ").last.flatMap { Double($0) })
        #expect(age >= 0.2)

        // An acknowledged finish is no longer reported; another unacknowledged one is, and each is logged once.
        try await scene.api.acknowledge("forgotten", through: forgotten)
        #expect(try await metrics(scene).isEmpty)
        _ = try await finish("another", in: scene)
        _ = try await eventually("another warning") {
            scene.fetchd.log.contains("session another (event") ? true : nil
        }
        #expect(try await metrics(scene, "another").count == 1)
        #expect(try await metrics(scene).count == 1)
        let warnings = scene.fetchd.log.split(separator: "\n").filter { $0.contains("never acknowledged") }
        #expect(warnings.count == 2)
    }

    @Test func reportsUnacknowledgedFinishOnlyAfterPatience() async throws {
        let scene = try await Scene()
        let id = try await finish("films", in: scene)
        func unacknowledged() async throws -> Bool {
            try await scene.api.get("/metrics").text.contains("\nfetchd_finishes_unacknowledged 1\n")
        }
        #expect(try await unacknowledged())
        #expect(try await metrics(scene).isEmpty)
        #expect(!scene.fetchd.log.contains("never acknowledged"))
        try await scene.api.acknowledge("films", through: id)
        #expect(try await !unacknowledged())
    }
}
