import GRDB
import TestKit
import Testing

@testable import Storage

/// Tests that statements for every delivery, finish or step use an index. A scan would make a long backlog slower
/// still.
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
    func scansNoWholeTable(_ sql: String) async throws {
        let plan = try await plan(sql)
        for table in ["deliveries", "batches", "jobs", "events", "parts"] {
            #expect(!plan.contains { $0.hasPrefix("SCAN \(table)") }, "\(plan)")
        }
        #expect(!plan.isEmpty)
    }

    /// The index returns the rows in the wanted order.
    @Test(arguments: [Store.othersDue, Store.finishDue, Transaction.failures, Transaction.lastBatch])
    func sortsNothing(_ sql: String) async throws {
        #expect(try await !plan(sql).contains { $0.contains("TEMP B-TREE") })
    }

    @Test func usesTheIntendedIndex() async throws {
        for (sql, index) in [
            (Store.othersDue, "deliveries_due"), (Transaction.expedite, "deliveries_waiting"),
            (Transaction.outstandingJobs, "jobs_by_session_and_state"), (Transaction.failures, "jobs_failed"),
            (Transaction.firstUnacknowledged, "batches_untaken"), (BatchRow.ofFinish, "batches_by_finish"),
        ] {
            let plan = try await plan(sql)
            #expect(plan.contains { $0.contains("INDEX \(index) ") }, "\(plan)")
        }
    }
}
