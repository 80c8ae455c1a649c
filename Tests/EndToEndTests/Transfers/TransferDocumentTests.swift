import Downloads
import TestKit
import Testing

/// docs/transfers.md says what comes of a download from each kind of server; each of its rows is tried out here, with
/// the real program.
@Suite struct TransferDocumentTests {
    /// Rows under way at once. Most of them wait for something.
    private static let width = 12

    @Test func everyRowHasAScenarioAndEveryScenarioARow() throws {
        let tables = try TransferTable.all()
        #expect(tables.map(\.title) == TransferScenario.sections.map(\.title))
        for (table, section) in zip(tables, TransferScenario.sections) {
            #expect(table.rows.map(\.name) == section.scenarios.map(\.name), "\(table.title)")
        }
    }

    @Test func everyReasonToBeginAnewIsDocumented() throws {
        let documented = Set(try TransferTable.all().flatMap(\.rows).map(\.outcome.why))
        // No server brings it about: the section about crashes explains it, and FailedSyncTests show it.
        let ofServers = ResumeOutcome.RestartReason.allCases.filter { $0 != .syncFailed }
        #expect(documented.isSuperset(of: ofServers.map(\.rawValue)))
    }

    @Test func everyRowEndsAsDocumented() async throws {
        let fetchd = try await FetchdProcess.start(
            .init(arguments: [
                "--max-connections-per-host", "100", "--max-concurrent-jobs", "100", "--minimum-speed-seconds", "1",
                "--allow-network", "::1/128",
            ]))
        let parts = await run(try experiments(with: fetchd))
        // Nothing else is left behind. A promise goes before its file does.
        let files = try await eventually("\(parts) part files") {
            fetchd.partFiles.count == parts ? fetchd.partFiles : nil
        }
        #expect(files.count == parts)
    }

    /// How many of the jobs left a part behind.
    private func run(_ experiments: [Experiment]) async -> Int {
        await withTaskGroup(of: Bool.self) { group in
            var endings: [Bool] = []
            for (index, experiment) in experiments.enumerated() {
                if index >= Self.width, let ending = await group.next() { endings.append(ending) }
                group.addTask { await experiment.run() }
            }
            for await ending in group { endings.append(ending) }
            return endings.count { $0 }
        }
    }

    /// Those that take their time first.
    private func experiments(with fetchd: some TestedService) throws -> [Experiment] {
        let origin = try Origin()
        let rows = zip(try TransferTable.all(), TransferScenario.sections).flatMap { table, section in
            zip(table.rows, section.scenarios).map { (title: table.title, row: $0, scenario: $1) }
        }.filter(\.scenario.isPossible)
        return rows.reversed().enumerated().map { number, row in
            Experiment(
                title: row.title, row: row.row, scenario: row.scenario, trial: Trial(number, origin, fetchd))
        }
    }
}

/// A row, and what is done to see whether it is true.
private struct Experiment: Sendable {
    let title: String
    let row: TransferTable.Row
    let scenario: TransferScenario
    let trial: Trial

    /// Whether the job leaves a part behind in the service that all share.
    func run() async -> Bool {
        do {
            let ending = try await scenario.perform(trial)
            let outcome = try trial.outcome(ending)
            #expect(
                outcome.isAs(documented: row.outcome),
                "\(title), \(row.name): \(outcome); \(ending.job.written)")
            return ending.fetchd.folder === trial.fetchd.folder && ending.job["state"] == "failed"
                && outcome.bytes != "none"
        } catch {
            Issue.record("\(title), \(row.name): \(error)")
            return false
        }
    }
}
