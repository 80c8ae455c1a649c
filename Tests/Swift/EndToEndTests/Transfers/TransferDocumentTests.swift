import Downloads
import TestKit
import Testing

/// docs/transfers.md documents the outcome of a download for each kind of server; each row is tested here with the real
/// program.
@Suite struct TransferDocumentTests {
    /// The number of rows that run at once. Most of them wait for something.
    private static let width = 12

    @Test func everyRowHasScenarioAndEveryScenarioHasRow() throws {
        let tables = try TransferTable.all()
        #expect(tables.map(\.title) == TransferScenario.sections.map(\.title))
        for (table, section) in zip(tables, TransferScenario.sections) {
            #expect(table.rows.map(\.name) == section.scenarios.map(\.name), "\(table.title)")
        }
    }

    @Test func everyRestartReasonIsDocumented() throws {
        let documented = Set(try TransferTable.all().flatMap(\.rows).map(\.outcome.why))
        // The server of the file does not cause these: the section about crashes and verifying.md explain them, and FailedSyncTests
        // and ChecksumFileTests test them.
        let others: Set<ResumeOutcome.RestartReason> = [.syncFailed, .checksumChanged]
        let ofServers = ResumeOutcome.RestartReason.allCases.filter { !others.contains($0) }
        #expect(documented.isSuperset(of: ofServers.map(\.rawValue)))
    }

    /// - Parameter descriptors: the limit; 400 are too few to keep the parts of 100 jobs open.
    @Test(arguments: [nil, 400]) func everyRowEndsAsDocumented(descriptors: Int?) async throws {
        let fetchd = try await FetchdProcess.start(
            .init(
                arguments: [
                    "--max-connections-per-host", "100", "--max-concurrent-jobs", "100", "--minimum-speed-seconds", "1",
                    "--allow-network", "::1/128",
                ], launcher: descriptors.map { ["prlimit", "--nofile=\($0)", "--"] } ?? []))
        let parts = await run(try experiments(with: fetchd))
        // Nothing else is left behind. A row is deleted before its part file.
        let files = try await eventually("\(parts) part files") {
            fetchd.partFiles.count == parts ? fetchd.partFiles : nil
        }
        #expect(files.count == parts)
    }

    /// The number of jobs that left a part behind.
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

    /// The experiments, slow ones first.
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

/// A row, and the scenario that tests it.
private struct Experiment: Sendable {
    let title: String
    let row: TransferTable.Row
    let scenario: TransferScenario
    let trial: Trial

    /// Whether the job leaves a part behind in the shared service.
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
