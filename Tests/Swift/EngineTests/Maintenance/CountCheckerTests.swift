import Foundation
import TestKit
import Testing

@testable import Engine
@testable import Storage

@Suite struct CountCheckerTests {
    @Test func logsAndCorrectsAWrongCount() async throws {
        let fixture = try MaintenanceFixture()
        try await fixture.create(2)
        try await fixture.store.writer.write { try $0.run("UPDATE session_counts SET queued = 9") }
        try await fixture.services.checkCounts()
        #expect(
            fixture.log.text.contains("The kept counts were wrong, and fetchd has corrected them. session default:"))
        #expect(try await fixture.states() == [.queued: 2])
    }

    @Test func logsNothingWhenTheCountsAreRight() async throws {
        let fixture = try MaintenanceFixture()
        try await fixture.create(2)
        try await fixture.services.checkCounts()
        #expect(fixture.log.text.isEmpty)
    }
}
