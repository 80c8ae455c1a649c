import Downloads
import Foundation
import Storage
import Testing

@testable import Engine

@Suite struct DeadlineEnforcerTests {
    @Test func failsAQueuedJobAtItsDeadlineAndNotBefore() async throws {
        let fixture = try MaintenanceFixture()
        let deadline = fixture.now.addingTimeInterval(10)
        let job = try await fixture.create { $0.deadline = deadline }[0]
        #expect(try await fixture.services.failOverdueJobs() == deadline)
        fixture.time.advance(by: 9.9)
        #expect(try await fixture.services.failOverdueJobs() == deadline)
        #expect(try await fixture.job(job).state.name == .queued)
        fixture.time.advance(by: 0.1)
        _ = try await fixture.services.failOverdueJobs()
        #expect(try await fixture.job(job).state.failure?.code == .deadlineExceeded)
    }

    @Test func stopsTheAttemptOfARunningJob() async throws {
        let fixture = try MaintenanceFixture()
        let job = try await fixture.create { $0.timeouts.resourceSeconds = 10 }[0]
        try await fixture.admit()
        let attempt = try #require(fixture.active[job])
        _ = try await fixture.services.failOverdueJobs()
        #expect(!attempt.control.isStopping)
        fixture.time.advance(by: 10)
        _ = try await fixture.services.failOverdueJobs()
        #expect(attempt.control.isStopping)
    }

    @Test func looksAgainAfterAMinuteAtTheLatest() async throws {
        let fixture = try MaintenanceFixture()
        let later = fixture.now.addingTimeInterval(3600)
        try await fixture.create { $0.deadline = later }
        #expect(
            try await fixture.services.failOverdueJobs() == fixture.now.addingTimeInterval(Store.longestPollInterval))
    }
}
