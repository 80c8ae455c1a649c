import Foundation
import TestKit
import Testing

/// Random files, faults, client actions and kills: every succeeded job has one version of the file, byte for byte, and
/// resume data, events and remaining files are true.
///
/// Every round follows from its seed. `scripts/check property` runs any number of rounds, and repeats one by its seed.
@Suite struct PropertyTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let wanted = environment["FETCHD_PROPERTY_ROUNDS"].flatMap { Int($0) }
    private static let first = environment["FETCHD_PROPERTY_SEED"].flatMap { UInt64($0) }
    /// The nodes of each service, which have their jobs in PostgreSQL; nil: one with SQLite.
    private static let nodes = environment["FETCHD_PROPERTY_NODES"].flatMap { Int($0) }

    /// Seeds of every run. A random one could fail for a case that has nothing to do with the change that is tested.
    private static let known: [UInt64] = [2, 5, 8]

    @Test(.enabled(if: wanted == nil && first == nil)) func succeededJobsHoldOneVersionOfTheFile() async throws {
        try await run(Self.known)
    }

    @Test(.enabled(if: wanted != nil || first != nil)) func runsRequestedNumberOfRounds() async throws {
        let first = Self.first ?? .random(in: 1_000_000..<1_000_000_000)
        let count = Self.wanted ?? 1
        print("Property test: \(count) rounds, seeds \(first) to \(first + UInt64(count) - 1)")
        try await run((0..<UInt64(count)).map { first + $0 })
    }

    /// Runs rounds in parallel lanes, each with its own service.
    private func run(_ seeds: [UInt64]) async throws {
        let lanes = min(Self.nodes ?? 1 > 1 ? 2 : 4, seeds.count)
        let place = try await StorePlace(nodes: Self.nodes)
        let done = Monitor(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<lanes {
                let share = stride(from: lane, to: seeds.count, by: lanes).map { seeds[$0] }
                group.addTask { try await play(share, of: seeds.count, done, place) }
            }
            try await group.waitForAll()
        }
    }

    private func play(
        _ seeds: [UInt64], of count: Int, _ done: Monitor<Int>, _ place: StorePlace
    ) async throws {
        var service = try await BatteredService.start(place)
        for seed in seeds {
            let plan = RoundPlan(seed: seed)
            let round = try Round(plan, at: service)
            let findings = await round.run()
            let number = done.withLock { done in
                done += 1
                return done
            }
            if number.isMultiple(of: 25) { print("Property test: \(number) of \(count) rounds") }
            guard !findings.isEmpty else { continue }
            Issue.record("\(Self.report(plan, findings, round))")
            // The next round gets a new service, so that it does not suffer from this one.
            service = try await BatteredService.start(place)
        }
    }

    private static func report(_ plan: RoundPlan, _ findings: [String], _ round: Round) -> String {
        let report = """
            FAILED: \(findings.joined(separator: "\nFAILED: "))
            Run it again: scripts/check property --seed \(plan.seed)\(nodes.map { " --store postgres --nodes \($0)" } ?? "")
            \(plan)
            \(round.record)
            """
        print(report)
        return "Round \(plan.seed): \(findings.joined(separator: "; ").prefix(600))"
    }
}
