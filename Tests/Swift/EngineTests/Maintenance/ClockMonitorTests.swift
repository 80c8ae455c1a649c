import Downloads
import Foundation
import Testing

@testable import Engine

@Suite struct ClockMonitorTests {
    @Test func followsAClockThatJumpsAndLogsIt() async throws {
        let fixture = try MaintenanceFixture()
        try await fixture.services.noteClock()
        #expect(!fixture.log.text.contains("jumped"))
        let before = fixture.now
        fixture.time.jump(by: 86_400 * 10)
        // The service's clock goes on evenly until the jump is stored.
        #expect(fixture.now == before)
        try await fixture.services.noteClock()
        #expect(fixture.now == before.addingTimeInterval(86_400 * 10))
        #expect(fixture.log.text.contains("The clock has jumped 10 days ahead"))
    }

    @Test func doesNotLogASmallCorrection() async throws {
        let fixture = try MaintenanceFixture()
        try await fixture.services.noteClock()
        fixture.time.jump(by: 30)
        try await fixture.services.noteClock()
        #expect(!fixture.log.text.contains("jumped"))
    }
}
