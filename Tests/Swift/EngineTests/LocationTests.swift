import Base
import Downloads
import Foundation
import Glibc
import HTTPSemantics
import Storage
import TestKit
import Testing

@testable import Engine

/// Jobs whose files go to different locations. Their attempts run against a real origin.
@Suite struct LocationTests {
    private let fixture: MaintenanceFixture
    private let origin: Origin
    private let content = Content.random(seed: 7, count: 300_000)
    private static let films = MaintenanceFixture.films

    init() throws {
        fixture = try MaintenanceFixture()
        origin = try Origin()
    }

    private var services: EngineServices { fixture.services }

    private func create(in location: Name?, _ path: String = "/a.bin") async throws -> JobID {
        let job = NewJob(session: .default, spec: spec(in: location, path))
        return try await fixture.store.createJobs([job])[0].id
    }

    private func spec(in location: Name?, _ path: String = "/a.bin") -> JobSpec {
        var spec = JobSpec(url: origin.url(path))
        spec.destination.location = location
        return spec
    }

    /// Admits the jobs that are queued, and runs their attempts to their ends.
    private func runAttempts() async throws {
        try await fixture.admit()
        let queues = FinalizeQueues(services)
        await withTaskGroup(of: Void.self) { group in
            for attempt in services.active.all {
                group.addTask { await attempt.run(finalizingIn: queues[attempt.location]) }
            }
        }
    }

    @Test func eachFileGoesToItsLocation() async throws {
        origin.serve("/a.bin", .file(content))
        origin.serve("/b.bin", .file(content))
        let (film, other) = (try await create(in: Self.films), try await create(in: nil, "/b.bin"))
        try await runAttempts()
        #expect(fixture.temporary.bytes(of: "films/a.bin") == content)
        #expect(fixture.temporary.bytes(of: "downloads/b.bin") == content)
        let files = try await [fixture.job(film), fixture.job(other)].map { $0.state.finish?.file }
        #expect(files.map { $0?.location } == [Self.films, nil])
        let outcomes = await services.removeFiles(of: [try await fixture.job(film), try await fixture.job(other)])
        #expect(outcomes.allSatisfy { $0.error == nil } && outcomes.count == 2)
        #expect(fixture.temporary.bytes(of: "films/a.bin") == nil)
        #expect(fixture.temporary.bytes(of: "downloads/b.bin") == nil)
    }

    @Test func onlyTheJobsOfALocationThatFailsWait() async throws {
        origin.serve("/a.bin", .file(content))
        let (film, other) = (try await create(in: Self.films), try await create(in: nil))
        _ = services.locations[Self.films]?.health.record(DiskError("open the folder", code: EIO))
        try await runAttempts()
        let waiting = try await fixture.job(film)
        #expect(waiting.state.wait?.name == .storage, "\(waiting.state)")
        #expect(try await fixture.job(other).state.name == .succeeded)
        #expect(origin.requests(to: "/a.bin").count == 1)
    }

    @Test func jobsOfALocationThatIsNotDeclaredWait() async throws {
        let job = try await create(in: Name(trusted: "gone"))
        try await runAttempts()
        let wait = try #require(try await fixture.job(job).state.wait)
        #expect(wait.name == .storage)
        #expect(wait.cause.message == "Could not use the location gone: no option declares it.")
        #expect(origin.requests(to: "/a.bin").isEmpty)
    }

    @Test func aJobContinuesInAnotherLocation() async throws {
        let job = try await create(in: nil)
        let part = try fixture.makePart("part_A", of: String(repeating: "x", count: 8))
        try await fixture.admit()
        try await fixture.store.checkpoint([(job: job, admission: 1, part: part)])
        let stored = try await fixture.job(job)
        guard let films = services.locations[Self.films],
            case .ready(let moved) = await services.takeOverPart(
                of: stored, to: films, in: films.diskQueues.next(), isStopped: { false }), let copy = moved.part
        else {
            Issue.record("the part is copied")
            return
        }
        #expect(copy.id.location == Self.films && copy.ranges == part.ranges)
        #expect(try await fixture.job(job).part?.id == copy.id)
        #expect(try films.folder.text(of: copy.id) == "xxxxx")
        #expect(!fixture.hasFile(of: part))
    }

    @Test func bytesInALocationThatIsNotDeclaredAreAwaited() async throws {
        let job = try await create(in: nil)
        let part = Part(
            id: PartID("part_A@gone"), url: origin.url("/a.bin"), validators: Validators(etag: "\"v1\""), size: 10,
            ranges: ByteRanges(prefix: 5))
        try await fixture.admit()
        try await fixture.store.checkpoint([(job: job, admission: 1, part: part)])
        let main = services.locations.main
        guard
            case .failed(let failure) = await services.takeOverPart(
                of: try await fixture.job(job), to: main, in: main.diskQueues.next(), isStopped: { false })
        else {
            Issue.record("the bytes cannot be read")
            return
        }
        #expect(failure.code == .storageError && failure.message.contains("location gone"))
        #expect(try await fixture.job(job).part == part)
    }

    /// The transfer is over when the job gets another location. Its bytes are not requested again.
    @Test func aLocationThatChangesDuringTheTransferCounts() async throws {
        let gate = Gate()
        origin.serve("/a.bin", .file(content), .waiting(at: 100_000, for: gate))
        let job = try await create(in: nil)
        async let first: Void = runAttempts()
        _ = try await eventually("the first bytes") { services.active[job]?.file == nil ? nil : true }
        _ = try await fixture.store.patchJob(
            job, from: spec(in: nil), to: spec(in: Self.films), fields: [.destination], expecting: nil
        ) { _ in }
        gate.open()
        try await first
        #expect(try await fixture.job(job).state.name == .queued)
        try await runAttempts()
        #expect(fixture.temporary.bytes(of: "films/a.bin") == content)
        #expect(origin.requests(to: "/a.bin").count == 1)
        #expect(fixture.temporary.files.allSatisfy { !$0.hasSuffix(".part") }, "\(fixture.temporary.files)")
    }

    @Test func partsAreSweptInEachLocation() async throws {
        let films = try #require(services.locations[Self.films])
        _ = try films.folder.makePart(PartID("part_A@films"))
        _ = try fixture.makePart("part_B")
        for location in services.locations.all {
            #expect(try await services.sweepParts(in: location).removed == 1)
        }
        #expect(fixture.temporary.files.allSatisfy { !$0.hasSuffix(".part") })
    }
}
