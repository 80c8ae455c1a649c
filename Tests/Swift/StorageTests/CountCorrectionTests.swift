import Downloads
import TestKit
import Testing

@testable import Storage

/// Tests that wrong counts are found and corrected.
@Suite struct CountCorrectionTests {
    private let fixture: StoreFixture
    private var store: Store { fixture.store }
    private let session = Name(trusted: "s")

    init() throws { fixture = try StoreFixture() }

    @Test func correctsWrongCounts() async throws {
        _ = try await store.declareSession(session, configuration: nil)
        _ = try await fixture.create(2, in: session)
        _ = try await fixture.create(1)
        try await store.writer.write { transaction in
            try transaction.run("UPDATE session_counts SET queued = 7, sized = 3, batch = 5 WHERE session = 's'")
            try transaction.run("DELETE FROM session_counts WHERE session = 'default'")
            try transaction.run("UPDATE service_counts SET deliveries_pending = -2")
        }
        let drifts = try await store.checkCounts()
        #expect(Set(drifts.map(\.session)) == [session, .default, nil])
        #expect(drifts.contains { $0.description.hasPrefix("session s: kept ") })
        #expect(try await store.compareCounts().drifts.isEmpty)
        #expect(try await store.checkCounts().isEmpty)
        #expect(try await store.session(session).counts == [.queued: 2])
    }

    /// A commit between the comparison and the correction is counted once.
    @Test func correctsWhileJobsChange() async throws {
        _ = try await fixture.create(2)
        try await store.writer.write { try $0.run("UPDATE session_counts SET queued = 5, unsized = 9") }
        let comparison = try await store.compareCounts()
        _ = try await fixture.admit(1)
        try await store.writer.write { transaction in
            _ = try transaction.createJobs([NewJob(session: .default, spec: JobSpec(url: "https://host/"))])
            try comparison.correct(in: transaction)
        }
        #expect(try await store.compareCounts().drifts.isEmpty)
        #expect(try await store.session(.default).counts == [.queued: 2, .running: 1])
    }
}
