import Downloads
import Foundation
import Testing

@testable import Engine

@Suite struct SessionCloserTests {
    private let films = Name(trusted: "films")

    @Test func keepsADeletedSessionUntilItsJobsAreSettled() async throws {
        let fixture = try MaintenanceFixture()
        try await fixture.declare(films) { $0.finishDelaySeconds = 10 }
        let job = try await fixture.create(in: films)[0]
        try await fixture.store.invalidateSession(films)
        try await fixture.services.closeSessions()
        #expect(try await fixture.hasSession(films))
        try await fixture.cancel(job)
        try await fixture.services.closeSessions()
        #expect(try await fixture.hasSession(films))
        fixture.time.advance(by: 10)
        _ = try await fixture.services.finishBatches()
        try await fixture.services.closeSessions()
        #expect(try await !fixture.hasSession(films))
        #expect(fixture.log.text.contains("Session films is settled and removed."))
    }

    @Test func keepsASessionThatAnActionHolds() async throws {
        let fixture = try MaintenanceFixture()
        try await fixture.declare(films) { _ in }
        try await fixture.store.invalidateSession(films)
        fixture.services.sessionHolds.acquire(films)
        try await fixture.services.closeSessions()
        #expect(try await fixture.hasSession(films))
        fixture.services.sessionHolds.release(films)
        try await fixture.services.closeSessions()
        #expect(try await !fixture.hasSession(films))
    }

    @Test func keepsASessionThatIsNotDeleted() async throws {
        let fixture = try MaintenanceFixture()
        try await fixture.declare(films) { _ in }
        try await fixture.services.closeSessions()
        #expect(try await fixture.hasSession(films))
    }
}
