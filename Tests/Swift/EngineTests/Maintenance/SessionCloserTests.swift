import Downloads
import Foundation
import Testing

@testable import Engine

@Suite struct SessionCloserTests {
    private let films = Name(trusted: "films")

    @Test func keepsADeletedSessionUntilItsJobsAreSettled() async throws {
        let fixture = try MaintenanceFixture()
        let closer = SessionCloser(services: fixture.services)
        try await fixture.declare(films) { $0.finishDelaySeconds = 10 }
        let job = try await fixture.create(in: films)[0]
        try await fixture.store.invalidateSession(films)
        #expect(try await closer.pass() == nil)
        #expect(try await fixture.hasSession(films))
        try await fixture.cancel(job)
        _ = try await closer.pass()
        #expect(try await fixture.hasSession(films))
        fixture.time.advance(by: 10)
        _ = try await BatchFinisher(services: fixture.services).pass()
        _ = try await closer.pass()
        #expect(try await !fixture.hasSession(films))
        #expect(fixture.log.text.contains("Session films is settled and removed."))
    }

    @Test func keepsASessionWithALease() async throws {
        let fixture = try MaintenanceFixture()
        let closer = SessionCloser(services: fixture.services)
        try await fixture.declare(films) { _ in }
        try await fixture.store.invalidateSession(films)
        fixture.services.leases.acquire(films)
        _ = try await closer.pass()
        #expect(try await fixture.hasSession(films))
        fixture.services.leases.release(films)
        _ = try await closer.pass()
        #expect(try await !fixture.hasSession(films))
    }

    @Test func keepsASessionThatIsNotDeleted() async throws {
        let fixture = try MaintenanceFixture()
        try await fixture.declare(films) { _ in }
        _ = try await SessionCloser(services: fixture.services).pass()
        #expect(try await fixture.hasSession(films))
    }
}
