import Downloads
import Foundation
import Testing

@testable import Engine

@Suite struct PartExpirerTests {
    /// A failed job with resume data.
    private func failedJob(_ fixture: MaintenanceFixture, _ part: Part) async throws -> JobID {
        let job = try await fixture.create()[0]
        try await fixture.admit()
        try await fixture.fail(job, having: part)
        return job
    }

    @Test func removesAPartWhenItsTimeIsOverAndNotBefore() async throws {
        let fixture = try MaintenanceFixture()
        try await fixture.declare { $0.resumeDataTTL = 100 }
        let part = try fixture.makePart("part_a")
        let job = try await failedJob(fixture, part)
        let expiry = fixture.now.addingTimeInterval(100)
        #expect(try await fixture.services.expireParts() == expiry)
        fixture.time.advance(by: 99.9)
        #expect(try await fixture.services.expireParts() == expiry)
        #expect(try await fixture.job(job).part?.id == part.id)
        #expect(fixture.hasFile(of: part))
        fixture.time.advance(by: 0.1)
        #expect(try await fixture.services.expireParts() == nil)
        #expect(try await fixture.job(job).part == nil)
        #expect(!fixture.hasFile(of: part))
    }

    @Test func removesTheOldestPartsOverTheLimit() async throws {
        let fixture = try MaintenanceFixture()
        let (old, new) = (try fixture.makePart("part_a"), try fixture.makePart("part_b"))
        let first = try await failedJob(fixture, old)
        fixture.time.advance(by: 1)
        let second = try await failedJob(fixture, new)
        fixture.limit { $0.maxResumeDataBytes = 10 }
        _ = try await fixture.services.expireParts()
        #expect(fixture.hasFile(of: old) && fixture.hasFile(of: new))
        fixture.limit { $0.maxResumeDataBytes = 9 }
        _ = try await fixture.services.expireParts()
        #expect(try await fixture.job(first).part == nil)
        #expect(!fixture.hasFile(of: old))
        #expect(try await fixture.job(second).part?.id == new.id)
        #expect(fixture.hasFile(of: new))
    }

    @Test func removesTheOldestPartsOverTheNumber() async throws {
        let fixture = try MaintenanceFixture()
        let parts = try ["part_a", "part_b", "part_c"].map { try fixture.makePart($0) }
        for part in parts {
            _ = try await failedJob(fixture, part)
            fixture.time.advance(by: 1)
        }
        fixture.limit { $0.maxParts = 3 }
        _ = try await fixture.services.expireParts()
        #expect(parts.allSatisfy(fixture.hasFile))
        fixture.limit { $0.maxParts = 1 }
        _ = try await fixture.services.expireParts()
        #expect(parts.map(fixture.hasFile) == [false, false, true])
        fixture.limit { $0.maxParts = 0 }
        _ = try await fixture.services.expireParts()
        #expect(!fixture.hasFile(of: parts[2]))
    }
}
