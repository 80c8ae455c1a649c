import Downloads
import Formats
import Foundation
import TestKit
import Testing

@testable import Engine

/// Against a whole service, because only a transfer writes to a part.
@Suite struct CheckpointerTests {
    @Test func promisesTheReceivedBytesAtTheIntervalAndNotBefore() async throws {
        let (time, head, gate, origin) = (ManualTime(), Gate(), Gate(), try Origin())
        let file = Content.random(seed: 1, count: 200_000)
        origin.serve("/file", .file(file), .waitingBeforeHead(for: head), .waiting(at: 100_000, for: gate))
        let service = try await LocalService.start(
            .init {
                $0.time = time
                $0.engine.checkpointInterval = 30
            })
        let job = try await service.api.submit(["url": .string(origin.url("/file"))])
        // The attempt has begun, and the first pass is over. It had nothing to promise.
        _ = try await eventually("the time of the next pass") {
            time.deadlines.contains { abs($0.timeIntervalSince(time.now) - 30) < 0.001 } ? true : nil
        }
        head.open()
        try await service.api.waitForBytes(job, atLeast: 100_000)
        time.advance(by: 29)
        #expect(try await service.api.job(job)["progress"]["bytes_durable"] == 0)
        time.advance(by: 1)
        let promised = try await service.api.waitForBytes(job, atLeast: 100_000, durable: true)
        #expect(promised["progress"]["bytes_durable"] == promised["progress"]["bytes_received"])
        gate.open()
        try await service.api.waitForJob(job, .succeeded)
        #expect(service.downloaded("file") == file)
        try await service.stop()
    }

    @Test func commitsNothingWhileNoPartIsWrittenTo() async throws {
        let fixture = try MaintenanceFixture()
        let checkpointer = Checkpointer(services: fixture.services, location: fixture.services.locations.main)
        let job = try await fixture.create()[0]
        try await fixture.admit()
        #expect(try await checkpointer.pass() == fixture.now.addingTimeInterval(2))
        #expect(try await fixture.job(job).part == nil)
    }
}
