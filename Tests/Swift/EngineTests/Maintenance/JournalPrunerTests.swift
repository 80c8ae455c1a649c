import Downloads
import Foundation
import Storage
import Testing

@testable import Engine

@Suite struct JournalPrunerTests {
    private let retention = Retention(acknowledged: 100, unacknowledged: 1000)

    private func finishBatch(_ fixture: MaintenanceFixture) async throws {
        try await fixture.cancel(try await fixture.create()[0])
        fixture.time.advance(by: 1)
        _ = try await fixture.services.finishBatches()
    }

    @Test func removesAcknowledgedEventsAfterTheirRetentionAndNotBefore() async throws {
        let fixture = try MaintenanceFixture()
        fixture.limit { $0.retention = retention }
        try await finishBatch(fixture)
        try await fixture.store.acknowledge(.default, through: 3)
        try await finishBatch(fixture)
        fixture.time.advance(by: 90)
        _ = try await fixture.services.pruneJournal()
        #expect(try await fixture.eventTypes().count == 6)
        fixture.time.advance(by: 20)
        _ = try await fixture.services.pruneJournal()
        // The second batch is not acknowledged.
        #expect(try await fixture.eventTypes().count == 3)
    }

    @Test func restsATenthOfTheRetention() async throws {
        let fixture = try MaintenanceFixture()
        fixture.limit { $0.retention = retention }
        #expect(try await fixture.services.pruneJournal() == fixture.now.addingTimeInterval(10))
        fixture.limit { $0.retention = Retention(acknowledged: 1, unacknowledged: 1) }
        #expect(try await fixture.services.pruneJournal() == fixture.now.addingTimeInterval(1))
    }
}
