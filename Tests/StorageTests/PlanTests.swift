import GRDB
import TestKit
import Testing

@testable import Storage

/// Statements that run for every delivery, finish or step take what they want from an index: none reads all that there
/// is, which would make a long backlog slower still.
@Suite struct PlanTests {
    private func plan(_ sql: String) async throws -> [String] {
        let fixture = try StoreFixture()
        return try await fixture.store.pool.read { db in
            let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN " + sql)
            statement.setUncheckedArguments([])
            return try Row.fetchAll(statement).map { $0["detail"] }
        }
    }

    @Test(arguments: [
        Store.busyWebhooks, Store.finishDue, Store.othersDue, Transaction.outstandingJobs, Transaction.expedite,
        Transaction.failures, Transaction.firstUnacknowledged, Transaction.lastBatch, BatchRow.ofFinish,
    ])
    func noTableIsReadAsAWhole(_ sql: String) async throws {
        let plan = try await plan(sql)
        for table in ["deliveries", "batches", "jobs", "events", "parts"] {
            #expect(!plan.contains { $0.hasPrefix("SCAN \(table)") }, "\(plan)")
        }
        #expect(!plan.isEmpty)
    }

    /// What is wanted first comes first out of the index.
    @Test(arguments: [Store.othersDue, Store.finishDue, Transaction.failures, Transaction.lastBatch])
    func nothingIsSorted(_ sql: String) async throws {
        #expect(try await !plan(sql).contains { $0.contains("TEMP B-TREE") })
    }

    @Test func eachUsesTheIndexThatIsMeantForIt() async throws {
        for (sql, index) in [
            (Store.othersDue, "deliveries_due"), (Transaction.expedite, "deliveries_waiting"),
            (Transaction.outstandingJobs, "jobs_by_batch"), (Transaction.failures, "jobs_by_batch"),
            (Transaction.firstUnacknowledged, "batches_untaken"), (BatchRow.ofFinish, "batches_by_finish"),
        ] {
            let plan = try await plan(sql)
            #expect(plan.contains { $0.contains("INDEX \(index) ") }, "\(plan)")
        }
    }
}
