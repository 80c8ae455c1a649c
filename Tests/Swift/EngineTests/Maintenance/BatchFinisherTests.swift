import Downloads
import Foundation
import Testing

@testable import Engine

@Suite struct BatchFinisherTests {
    @Test func finishesABatchAfterItsDelayAndNotBefore() async throws {
        let fixture = try MaintenanceFixture()
        try await fixture.declare { $0.finishDelaySeconds = 10 }
        let job = try await fixture.create()[0]
        #expect(try await fixture.services.finishBatches() == nil)
        try await fixture.cancel(job)
        let due = fixture.now.addingTimeInterval(10)
        #expect(try await fixture.services.finishBatches() == due)
        fixture.time.advance(by: 9.9)
        #expect(try await fixture.services.finishBatches() == due)
        #expect(try await !fixture.eventTypes().contains("session.finished"))
        fixture.time.advance(by: 0.1)
        #expect(try await fixture.services.finishBatches() == nil)
        #expect(try await fixture.eventTypes().filter { $0 == "session.finished" }.count == 1)
        #expect(fixture.log.text.contains("Batch 1 of session default finished: cancelled."))
    }

    @Test func finishesNoBatchWithAnOutstandingJob() async throws {
        let fixture = try MaintenanceFixture()
        let jobs = try await fixture.create(2)
        try await fixture.cancel(jobs[0])
        fixture.time.advance(by: 3600)
        #expect(try await fixture.services.finishBatches() == nil)
        #expect(try await !fixture.eventTypes().contains("session.finished"))
    }
}
