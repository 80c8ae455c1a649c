import Storage
import TestKit
import Testing

@testable import Engine

/// A service leads when its workers run, and not before.
@Suite(.onItsOwnThread, .enabled(if: PostgresServer.isAvailable), .sharedPostgresServer)
struct NodeTakeoverTests {
    @Test func workerClaimsTheLead() async throws {
        let fixture = try MaintenanceFixture(in: try PostgresFixture())
        try await fixture.create()
        #expect(!fixture.store.isLeader)
        #expect(try await NodeTakeover(services: fixture.services).pass() == nil)
        #expect(fixture.store.isLeader)
    }
}
