import Foundation
import Storage
import TestKit
import Testing

@testable import Engine

@Suite struct ThroughputRecorderTests {
    @Test func storesTheBytesOfEachMinuteOnce() async throws {
        let fixture = try MaintenanceFixture()
        let first = try #require(try await fixture.services.storeThroughput())
        #expect(first > fixture.now && first.timeIntervalSince1970.truncatingRemainder(dividingBy: 60) == 0)
        fixture.time.advance(by: first.timeIntervalSince(fixture.now))

        for bytes: Int64 in [600, 0, 6000] {
            fixture.services.received.add(bytes, at: fixture.time.uptime)
            fixture.time.advance(by: 60)
            #expect(try await fixture.services.storeThroughput() == fixture.now.addingTimeInterval(60))
        }
        #expect(try await fixture.store.throughput().hour.rates.suffix(4) == [0, 10, 0, 100])
    }

    @Test func commitsNothingWithoutBytes() async throws {
        let fixture = try MaintenanceFixture()
        let commits = fixture.store.activity.commits
        for _ in 0..<3 {
            fixture.time.advance(by: 60)
            _ = try await fixture.services.storeThroughput()
        }
        #expect(fixture.store.activity.commits == commits)
    }
}
