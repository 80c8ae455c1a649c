import Downloads
import Foundation
import Testing

@testable import Engine

@Suite struct AcknowledgementMonitorTests {
    private let warning = "was never acknowledged"

    private func fixture() async throws -> MaintenanceFixture {
        let fixture = try MaintenanceFixture()
        try await fixture.declare { $0.acknowledgement = .expected }
        return fixture
    }

    private func finishBatch(_ fixture: MaintenanceFixture) async throws {
        try await fixture.cancel(try await fixture.create()[0])
        fixture.time.advance(by: 1)
        _ = try await fixture.services.finishBatches()
    }

    private func warnings(_ fixture: MaintenanceFixture) -> Int {
        fixture.log.text.components(separatedBy: warning).count - 1
    }

    @Test func warnsOnceOfAFinishThatStaysUnacknowledged() async throws {
        let fixture = try await fixture()
        try await finishBatch(fixture)
        let overdue = fixture.now.addingTimeInterval(100)
        #expect(try await fixture.services.warnOfUnacknowledgedFinishes() == overdue)
        fixture.time.advance(by: 99.9)
        // Passes are a second apart, at least.
        #expect(try await fixture.services.warnOfUnacknowledgedFinishes() == fixture.now.addingTimeInterval(1))
        #expect(warnings(fixture) == 0)
        fixture.time.advance(by: 0.1)
        // The second monitor is that of another process.
        for _ in 1...2 { _ = try await fixture.services.warnOfUnacknowledgedFinishes() }
        #expect(warnings(fixture) == 1)
    }

    @Test func warnsOfEachBatch() async throws {
        let fixture = try await fixture()
        for _ in 1...3 { try await finishBatch(fixture) }
        fixture.time.advance(by: 99)
        let last = try #require(try await fixture.store.unreportedFinishes().last)
        // Two of them are overdue.
        #expect(try await fixture.services.warnOfUnacknowledgedFinishes() == last.since.addingTimeInterval(100))
        #expect(warnings(fixture) == 2)
        fixture.time.advance(by: 1)
        _ = try await fixture.services.warnOfUnacknowledgedFinishes()
        #expect(warnings(fixture) == 3)
        for batch in 1...3 { #expect(fixture.log.text.contains("The finish of batch \(batch) of session default")) }
    }

    @Test func doesNotWarnOfAnAcknowledgedFinish() async throws {
        let fixture = try await fixture()
        try await finishBatch(fixture)
        try await fixture.store.acknowledge(.default, through: 3)
        fixture.time.advance(by: 1000)
        #expect(try await fixture.services.warnOfUnacknowledgedFinishes() == fixture.now.addingTimeInterval(100))
        #expect(warnings(fixture) == 0)
    }

    @Test func doesNotWarnWhereNothingCanAcknowledge() async throws {
        let fixture = try MaintenanceFixture()
        try await finishBatch(fixture)
        fixture.time.advance(by: 1000)
        #expect(try await fixture.services.warnOfUnacknowledgedFinishes() == fixture.now.addingTimeInterval(100))
        #expect(warnings(fixture) == 0)
    }
}
