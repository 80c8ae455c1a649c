import Formats
import TestKit
import Testing

/// A finish that its consumer does not acknowledge is reported to the operator, in the log and as a metric.
@Suite struct UnacknowledgedFinishTests {
    private func finish(
        _ session: String, _ acknowledgement: String? = "expected", in scene: Scene
    ) async throws -> Int64 {
        let configuration: JSON = ["finish_delay_seconds": 0, "acknowledgement": .optional(acknowledgement)]
        try await scene.api.declareSession(session, configuration)
        try await scene.api.submit(scene.order("/file", ("session", .string(session))))
        return try #require(try await scene.api.waitForFinish(of: session)["id"].integer)
    }

    /// The numbers of finishes and of late sessions, and the age of the oldest finish.
    private struct Metrics: Equatable {
        var finishes = 0.0
        var sessions = 0.0
        var age = 0.0
    }

    private func metrics(_ scene: Scene) async throws -> Metrics {
        let lines = try await scene.api.get("/metrics").text.split(separator: "\n")
        func value(_ name: String) throws -> Double {
            let line = try #require(lines.first { $0.hasPrefix("fetchd_\(name) ") })
            return try #require(line.split(separator: " ").last.flatMap { Double($0) })
        }
        return Metrics(
            finishes: try value("finishes_unacknowledged"), sessions: try value("sessions_unacknowledged"),
            age: try value("finishes_unacknowledged_oldest_age_seconds"))
    }

    private func warnings(_ scene: Scene) -> [Substring] {
        scene.fetchd.log.split(separator: "\n").filter { $0.contains("never acknowledged") }
    }

    @Test func logsAndMeasuresUnacknowledgedFinish() async throws {
        let scene = try await Scene(.init { $0.start.values.acknowledgementPatience = 0.2 })
        // Nothing can acknowledge it.
        _ = try await finish("plain", nil, in: scene)
        let forgotten = try await finish("forgotten", in: scene)
        let warning = try await eventually("a warning") { warnings(scene).first }
        #expect(warning.contains(" warning "))
        #expect(warning.contains("session forgotten (event \(forgotten))"))
        #expect(warning.contains("POST /v1/sessions/forgotten/acknowledge"))
        let late = try await metrics(scene)
        #expect(late.finishes == 1 && late.sessions == 1 && late.age >= 0.2)

        // An acknowledged finish is no longer reported; another unacknowledged one is, and each is logged once.
        try await scene.api.acknowledge("forgotten", through: forgotten)
        #expect(try await metrics(scene) == Metrics())
        _ = try await finish("another", in: scene)
        _ = try await eventually("another warning") { warnings(scene).count == 2 ? true : nil }
        #expect(try await metrics(scene).sessions == 1)
        #expect(warnings(scene).allSatisfy { !$0.contains("plain") })
    }

    @Test func reportsUnacknowledgedFinishOnlyAfterPatience() async throws {
        let scene = try await Scene()
        let id = try await finish("films", in: scene)
        let early = try await metrics(scene)
        #expect(early.finishes == 1 && early.sessions == 0)
        #expect(warnings(scene).isEmpty)
        try await scene.api.acknowledge("films", through: id)
        #expect(try await metrics(scene) == Metrics())
    }
}
