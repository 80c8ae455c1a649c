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
        try await fixture.services.takeOverNodes()
        #expect(fixture.store.isLeader)
    }
}
