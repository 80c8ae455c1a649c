import Downloads
import GRDB
import TestKit
import Testing

@testable import Storage

/// Tests that statements for every delivery, finish or step use an index. A scan would make a long backlog slower
/// still.
@Suite(.onSQLite) struct PlanTests {
    private func plan(_ sql: String) async throws -> [String] {
        let fixture = try StoreFixture()
        return try await fixture.store.pool.read { db in
            let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN " + sql)
            statement.setUncheckedArguments([])
            return try Row.fetchAll(statement).map { $0["detail"] }
        }
    }

    @Test(arguments: [
        Store.busyWebhooks, Store.finishDue, Store.othersDue,
        Store.outstandingJobs([.running, .queued, .waiting, .paused]), Transaction.expedite,
        Transaction.failures, Transaction.firstUnacknowledged, Transaction.lastBatch, BatchRow.ofFinish,
        Transaction.firstJobs, Store.oldestFinishes, Transaction.releaseHeld, Transaction.endedWaits,
        Transaction.endStorageWaits, Store.endRefusedWaits,
        Transaction.overdueJobs, Store.latestAttempts, Store.pendingCount, Store.oldestPending,
        DeliveryRow.firstPendingBefore, Store.oldestQueued, Store.oldestUndelivered, SessionRow.oldestAwaited,
    ])
    func scansNoWholeTable(_ sql: String) async throws {
        let plan = try await plan(sql)
        for table in ["deliveries", "delivery_attempts", "batches", "jobs", "events", "parts"] {
            #expect(!plan.contains { $0.hasPrefix("SCAN \(table)") }, "\(plan)")
        }
        #expect(!plan.isEmpty)
    }

    /// The index returns the rows in the wanted order.
    @Test(arguments: [
        Store.othersDue, Store.finishDue, Transaction.failures, Transaction.lastBatch, Transaction.firstJobs,
        Store.latestAttempts, Store.oldestPending, DeliveryRow.firstPendingBefore, Store.unreportedFinishes,
    ])
    func sortsNothing(_ sql: String) async throws {
        #expect(try await !plan(sql).contains { $0.contains("TEMP B-TREE") })
    }

    @Test func jobsOfHostsAreCountedInIndexes() async throws {
        let plan = try await plan(Store.jobsByHost(where: "1 = 1"))
        // Jobs that have ended are in none of these indexes, except a few that were moved.
        #expect(plan.filter { $0.contains("SCAN jobs") }.allSatisfy { $0.contains("USING INDEX jobs_") }, "\(plan)")
        #expect(plan.contains { $0.contains("jobs_queue_by_host") }, "\(plan)")
    }

    @Test func usesTheIntendedIndex() async throws {
        for (sql, index) in [
            (QueuePositions.counts(in: .unmoved, 1), "jobs_queue_by_age"),
            (QueuePositions.counts(in: .moved, 1), "jobs_moved_by_rank"),
            (QueueSamples.ranks(in: .unmoved), "jobs_queue_by_age"),
            (QueueSamples.ranks(in: .moved), "jobs_moved_by_rank"),
            (Store.othersDue, "deliveries_due"), (Transaction.expedite, "deliveries_waiting"),
            (Store.outstandingJobs([.running, .queued, .waiting, .paused]), "jobs_not_running_by_session"),
            (Store.outstandingJobs([.running, .queued, .waiting, .paused]), "jobs_running_by_age"),
            (Transaction.failures, "jobs_failed"),
            (Transaction.sumOfHeldBytes, "jobs_not_running_by_session"),
            (Transaction.firstUnacknowledged, "batches_untaken"), (BatchRow.ofFinish, "batches_by_finish"),
            (SessionRow.oldestAwaited, "batches_awaited"), (Store.oldestFinishes, "batches_awaited"),
            (Store.waitingJobs, "jobs_waiting_for_location"),
        ] {
            let plan = try await plan(sql)
            #expect(plan.contains { $0.contains("INDEX \(index) ") }, "\(plan)")
        }
    }

    // MARK: Lists

    private static let states: [JobState.Kind?] = [nil] + JobState.Kind.allCases
    private static let filters = [(false, false), (true, false), (false, true), (true, true)]

    /// Every combination of session, tag and state, with and without a cursor.
    @Test(arguments: states, filters) func aListOfJobsWalksOneIndex(
        _ state: JobState.Kind?, _ filter: (hasSession: Bool, hasTag: Bool)
    ) async throws {
        for before in [nil, JobID("job_1")] {
            let query = JobQuery(
                session: filter.hasSession ? .default : nil, state: state, tag: filter.hasTag ? "red" : nil,
                before: before)
            for statement in [query.statement, query.versionStatement] {
                let plan = try await plan(statement.sql)
                #expect(plan.first?.contains(" \(index(of: query)) (") == true, "\(plan)")
                #expect(plan.dropFirst(filter.hasTag ? 2 : 1).allSatisfy { $0.hasPrefix("SEARCH parts ") }, "\(plan)")
                #expect(plan.allSatisfy { $0.hasPrefix("SEARCH ") && $0.contains("?") }, "\(plan)")
            }
        }
    }

    private func index(of query: JobQuery) -> String {
        if query.tag != nil { return query.session == nil ? "PRIMARY KEY" : "INDEX job_tags_by_session" }
        return switch query.state {
        case nil: query.session == nil ? "INDEX sqlite_autoindex_jobs_1" : "INDEX jobs_by_session"
        case .running: "INDEX jobs_running_by_age"
        case .queued, .waiting, .paused, .succeeded, .failed, .cancelled:
            query.session == nil ? "INDEX jobs_not_running" : "INDEX jobs_not_running_by_session"
        }
    }

    @Test(arguments: [nil] + Delivery.State.Kind.allCases)
    func aPageOfDeliveriesWalksOneIndex(_ state: Delivery.State.Kind?) async throws {
        let plan = try await plan(Store.page(of: state))
        let index =
            switch state {
            case nil: "sqlite_autoindex_deliveries_2"
            case .pending: "deliveries_pending"
            case .acknowledged, .exhausted, .cancelled: "deliveries_settled"
            }
        #expect(plan.count == 1 && plan[0].hasPrefix("SEARCH deliveries USING INDEX \(index) ("), "\(plan)")
    }

    @Test(arguments: [
        (EventQuery(after: 1), "INTEGER PRIMARY KEY"), (EventQuery(session: .default), "INDEX events_by_session"),
        (EventQuery(job: JobID("job_1")), "INDEX events_by_job"),
        (EventQuery(session: .default, job: JobID("job_1")), "INDEX events_by_job"),
        (EventQuery(session: .default, types: [EventPattern(trusted: "job.*")]), "INDEX events_by_session"),
    ])
    func aPageOfEventsWalksOneIndex(_ query: EventQuery, _ index: String) async throws {
        let plan = try await plan(query.statement().0)
        #expect(plan.count == 1 && plan[0].hasPrefix("SEARCH events USING \(index) ("), "\(plan)")
    }

    /// The indexes of lists don't take the place of the indexes of the queue.
    @Test func admissionUsesTheIndexesOfTheQueue() async throws {
        #expect(try await plan(AdmissionSlots.running) == ["SCAN jobs USING INDEX jobs_running"])
        for (lane, index) in [(QueueLane.unmoved, "jobs_queue_by_age"), (.moved, "jobs_moved_by_rank")] {
            let plan = try await plan(AdmissionQueue.first(in: lane, without: 0))
            #expect(plan.count == 1 && plan[0].contains("INDEX \(index) (priority=? AND session=?"), "\(plan)")
        }
        #expect(try await plan(Store.nextWait).contains { $0.contains("INDEX jobs_scheduled (held_until>?") })
    }
}
