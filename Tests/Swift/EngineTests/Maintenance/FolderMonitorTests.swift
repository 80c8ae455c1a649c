import Downloads
import Foundation
import TestKit
import Testing

@testable import Engine

@Suite struct FolderMonitorTests {
    private let fixture: MaintenanceFixture
    private let monitor: FolderMonitor

    init() throws {
        fixture = try MaintenanceFixture()
        let (services, main) = (fixture.services, fixture.services.locations.main)
        monitor = FolderMonitor(services: services, location: main, finalizeQueue: FinalizeQueue(of: main, services))
    }

    private func moveAway() throws {
        try FileManager.default.moveItem(
            atPath: fixture.temporary.path("downloads"), toPath: fixture.temporary.path("elsewhere"))
    }

    private func moveBack() throws {
        try FileManager.default.moveItem(
            atPath: fixture.temporary.path("elsewhere"), toPath: fixture.temporary.path("downloads"))
    }

    @Test func notesAFolderThatIsMissingUntilItIsBack() async throws {
        #expect(try await monitor.pass() == nil)
        #expect(fixture.services.locations.main.health.fault == nil)
        try moveAway()
        #expect(try await monitor.pass() == fixture.now.addingTimeInterval(1))
        #expect(fixture.services.locations.main.health.fault != nil)
        _ = try await monitor.pass()
        #expect(fixture.log.text.components(separatedBy: "The downloads folder does not work").count == 2)
        try moveBack()
        #expect(try await monitor.pass() == nil)
        #expect(fixture.services.locations.main.health.fault == nil)
        #expect(fixture.log.text.contains("The downloads folder works again."))
    }

    @Test func watchesAFolderThatWorks() async throws {
        let watch = Task { [monitor] in await monitor.watch() }
        for _ in 0..<2 {
            _ = await fixture.time.waitForSleepers()
            fixture.time.advance(by: 10)
        }
        _ = await fixture.time.waitForSleepers()
        try moveAway()
        fixture.time.advance(by: 10)
        #expect(await watch.value == fixture.now)
        await fixture.services.locations.main.health.doubts.wait()
    }

    /// They would wait for their own next try otherwise.
    @Test func endsTheWaitsForTheFolderWhenItWorksAgain() async throws {
        let jobs = try await fixture.create(3)
        try await fixture.admit()
        let later = fixture.now.addingTimeInterval(600)
        try await fixture.deferred(jobs[0], .storage(until: later))
        try await fixture.deferred(jobs[1], .network(until: later))
        try await fixture.deferred(jobs[2], .storage(until: later), for: MaintenanceFixture.films)
        #expect(try await fixture.store.jobsWaitingForLocations() == [.default: 1, MaintenanceFixture.films: 1])
        _ = try await monitor.pass()
        try await fixture.admit()
        #expect(try await fixture.states() == [.waiting: 3])
        try moveAway()
        _ = try await monitor.pass()
        try moveBack()
        _ = try await monitor.pass()
        try await fixture.admit()
        #expect(try await fixture.job(jobs[0]).state.name == .running)
        // They wait for the network, and for another location.
        for job in jobs.dropFirst() { #expect(try await fixture.job(job).state.wait?.until == later) }
    }
}
