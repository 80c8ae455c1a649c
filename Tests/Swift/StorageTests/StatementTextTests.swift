import Foundation
import TestKit
import Testing

@testable import Storage

/// The texts of the statements whose plans and costs were measured (PlanTests, scripts/check cost), as in
/// Tests/Fixtures/statements.sql. A change of the tables or of the code around them must not change a statement unnoticed.
///
/// After an intended change, look at the plans, and write the file again: FETCHD_WRITE_STATEMENTS=1 scripts/test --filter
/// StatementTextTests.
@Suite struct StatementTextTests {
    private static let statements: [(name: String, sql: String)] =
        QueueLane.allCases.flatMap { lane in
            [
                ("first in the lane \(lane)", AdmissionQueue.first(in: lane, without: 0)),
                ("first in the lane \(lane) without a token", AdmissionQueue.first(in: lane, without: 1)),
                ("first of each host in the lane \(lane)", AdmissionQueue.firstOfHosts(in: lane, without: 0)),
                ("counts in the lane \(lane)", QueuePositions.counts(in: lane, 1)),
                ("ranks in the lane \(lane)", QueueSamples.ranks(in: lane)),
            ]
        } + [
            ("sessions that wait", AdmissionQueue.sessionsWaiting), ("running", AdmissionSlots.running),
            ("next wait", Store.nextWait), ("ended waits", Transaction.endedWaits),
            ("release held jobs", Transaction.releaseHeld), ("end waits for storage", Transaction.endStorageWaits),
            ("end refused waits", Store.endRefusedWaits),
            ("overdue jobs", Transaction.overdueJobs),
            ("outstanding jobs", Store.outstandingJobs([.running, .queued, .waiting, .paused])),
            ("first jobs", Transaction.firstJobs), ("webhooks with work", Store.busyWebhooks),
            ("due finish", Store.finishDue), ("other due deliveries", Store.othersDue),
            ("expedite", Transaction.expedite), ("first pending before", DeliveryRow.firstPendingBefore),
            ("latest attempts", Store.latestAttempts), ("pending deliveries", Store.pendingCount),
            ("oldest pending delivery", Store.oldestPending), ("oldest queued job", Store.oldestQueued),
            ("oldest undelivered", Store.oldestUndelivered), ("failures of a batch", Transaction.failures),
            ("first unacknowledged event", Transaction.firstUnacknowledged), ("last batch", Transaction.lastBatch),
            ("oldest finishes", Store.oldestFinishes), ("bytes of a session", Transaction.sumOfHeldBytes),
            ("select of a job", JobRow.select), ("select of a job with its tags", JobRow.selectTagged),
        ]

    private static let file = Project.path("Tests/Fixtures/statements.sql")

    @Test func statementsAreAsTheyWereMeasured() throws {
        let text = Self.statements.map { "-- \($0.name)\n\($0.sql);\n" }.joined(separator: "\n")
        if ProcessInfo.processInfo.environment["FETCHD_WRITE_STATEMENTS"] != nil {
            try text.write(toFile: Self.file, atomically: true, encoding: .utf8)
        }
        let measured = try String(contentsOfFile: Self.file, encoding: .utf8)
        for (statement, former) in zip(Self.split(text), Self.split(measured)) { #expect(statement == former) }
        #expect(Self.split(text).count == Self.split(measured).count)
    }

    private static func split(_ text: String) -> [String] { text.components(separatedBy: "\n-- ") }
}
