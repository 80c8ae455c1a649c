import Downloads
import Foundation
import TestKit
import Testing

/// The service performs every cell of the table in docs/job-lifecycle.md that says what each action does in each state.
@Suite struct JobActionTableTests {
    struct Cell: Sendable, CustomTestStringConvertible {
        let action: JobSignal.Action
        let state: JobState.Kind
        /// nil if the action is refused.
        let result: JobState.Kind?
        /// The states in which the action is not refused.
        let allowed: [String]

        var testDescription: String { "\(action) in \(state)" }
    }

    static let cells: [Cell] = {
        let path = Project.path("docs/job-lifecycle.md")
        let lines = ((try? String(contentsOfFile: path, encoding: .utf8)) ?? "").split(separator: "\n")
        let table = lines.map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
        guard let heading = table.firstIndex(where: { $0.first == "action" }) else { return [] }
        let states = table[heading].dropFirst()
        return table[(heading + 2)...].prefix { JobSignal.Action(rawValue: $0.first ?? "") != nil }.flatMap { row in
            let allowed = zip(states, row.dropFirst()).filter { $0.1 != "409" }.map(\.0)
            return zip(states, row.dropFirst()).map { state, result in
                Cell(
                    action: .init(rawValue: row[0])!, state: .init(rawValue: state)!, result: .init(rawValue: result),
                    allowed: allowed)
            }
        }
    }()

    @Test func tableHasEveryActionAndState() {
        #expect(Self.cells.count == JobSignal.Action.allCases.count * JobState.Kind.allCases.count)
    }

    @Test(arguments: cells)
    func actionFollowsLifecycleTable(_ cell: Cell) async throws {
        let scene = try await Scene()
        let id = try await scene.job(in: cell.state)
        let before = try await scene.api.job(id)
        let events = try await scene.api.events(of: id)
        let answer = try await scene.api.post("/v1/jobs/\(id)/\(cell.action.rawValue)")
        if let result = cell.result {
            #expect(answer.status == 200, "\(answer)")
            #expect(answer.json["state"].string == result.rawValue)
            #expect(answer.header("ETag")?.hasPrefix("\"\(answer.json["revision"].integer ?? 0).") == true)
            // An action without effect writes no event.
            if result == cell.state { #expect(try await scene.api.events(of: id) == events) }
        } else {
            #expect(answer.status == 409)
            #expect(answer.problem == .init(kind: "state-conflict"))
            let detail = try #require(answer.json["detail"].string)
            #expect(detail.hasSuffix("possible from: \(cell.allowed.joined(separator: ", "))."), "\(detail)")
            #expect(try await scene.api.job(id) == before)
            #expect(try await scene.api.events(of: id) == events)
        }
    }

    /// An action on a session acts on each of its jobs whose state allows it.
    @Test(arguments: JobState.Kind.allCases)
    func sessionActionFollowsLifecycleTableForEachJob(_ state: JobState.Kind) async throws {
        for action in JobSignal.Action.allCases where action != .retry {
            let scene = try await Scene()
            scene.holdResumedDownloads()
            let id = try await scene.job(in: state)
            let before = try await scene.api.job(id)
            let session = try #require(before["session"].string)
            try await scene.api.perform(action.rawValue, onAllOf: session)
            let cell = try #require(Self.cells.first { $0.action == action && $0.state == state })
            let after = try await scene.api.job(id)
            switch cell.result {
            case nil: #expect(after == before, "\(action)")
            // The job may be running again by now.
            case .queued?, .running?: #expect(["queued", "running", "waiting"].contains(after["state"]), "\(action)")
            case let result?: #expect(after["state"].string == result.rawValue, "\(action)")
            }
        }
    }
}
