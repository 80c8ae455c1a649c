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

    /// A pass each 2 s: the bytes that are not durable, and whether their offset is stored.
    @Test(arguments: [
        (name: "the first bytes", bytes: [1], first: true, stored: [true]),
        (
            name: "few bytes", bytes: [1, 2, 3, 4, 5, 6], first: false,
            stored: [false, false, false, false, true, false]
        ),
        (name: "20 KiB/s", bytes: [40 << 10, 80 << 10, 40 << 10], first: false, stored: [false, true, false]),
        (name: "64 KiB", bytes: [64 << 10], first: false, stored: [true]),
        (name: "stalled", bytes: [1, 1], first: false, stored: [false, true]),
    ])
    func aPartThatReceivesLittleWaits(_ trial: (name: String, bytes: [Int64], first: Bool, stored: [Bool])) {
        var gathering: Gathering?
        for (pass, bytes) in trial.bytes.enumerated() {
            gathering = Gathering(
                of: bytes, hasOffset: !trial.first, after: gathering, now: .seconds(100 + 2 * pass),
                interval: .seconds(2))
            #expect((gathering == nil) == trial.stored[pass], "\(trial.name), pass \(pass)")
        }
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
