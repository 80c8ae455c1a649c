import Downloads
import Foundation
import Testing

@testable import Engine

@Suite struct AcknowledgementMonitorTests {
    private let warning = "was never acknowledged"

    private func monitor(_ fixture: MaintenanceFixture) -> AcknowledgementMonitor {
        AcknowledgementMonitor(services: fixture.services, patience: 100, interval: 1)
    }

    private func finishBatch(_ fixture: MaintenanceFixture) async throws {
        try await fixture.cancel(try await fixture.create()[0])
        fixture.time.advance(by: 1)
        _ = try await BatchFinisher(services: fixture.services).pass()
    }

    private func warnings(_ fixture: MaintenanceFixture) -> Int {
        fixture.log.text.components(separatedBy: warning).count - 1
    }

    @Test func warnsOnceOfAFinishThatStaysUnacknowledged() async throws {
        let fixture = try MaintenanceFixture()
        var monitor = monitor(fixture)
        try await finishBatch(fixture)
        let overdue = fixture.now.addingTimeInterval(100)
        #expect(try await monitor.pass() == overdue)
        fixture.time.advance(by: 99.9)
        // Passes are a second apart, at least.
        #expect(try await monitor.pass() == fixture.now.addingTimeInterval(1))
        #expect(warnings(fixture) == 0)
        fixture.time.advance(by: 0.1)
        _ = try await monitor.pass()
        _ = try await monitor.pass()
        #expect(warnings(fixture) == 1)
    }

    @Test func doesNotWarnOfAnAcknowledgedFinish() async throws {
        let fixture = try MaintenanceFixture()
        var monitor = monitor(fixture)
        try await finishBatch(fixture)
        try await fixture.store.acknowledge(.default, through: 3)
        fixture.time.advance(by: 1000)
        #expect(try await monitor.pass() == fixture.now.addingTimeInterval(100))
        #expect(warnings(fixture) == 0)
    }
}
