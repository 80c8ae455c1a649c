import Base
import Downloads
import Foundation
import Glibc
import HTTPSemantics
import Storage
import TestKit
import Testing

@testable import Engine

/// Jobs whose files go to different locations, and whose parts grow on another file system than the files of the second. Their attempts run against a real origin.
@Suite struct LocationTests {
    private let fixture: MaintenanceFixture
    private let origin: Origin
    /// On another file system than the folders.
    private let incomplete: TemporaryFolder
    private let content = Content.random(seed: 7, count: 300_000)
    private static let films = MaintenanceFixture.films

    init() throws {
        incomplete = try TemporaryFolder(in: "/dev/shm")
        fixture = try MaintenanceFixture(incomplete: incomplete.path)
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
        #expect(incomplete.files.isEmpty && fixture.temporary.files.allSatisfy { !$0.contains("part_") })
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

    /// The disk is missing at the start.
    @Test func aLocationThatOpensLaterIsRecoveredFirst() async throws {
        let fixture = try MaintenanceFixture(opensFilms: false)
        let (services, path) = (fixture.services, fixture.temporary.path("films"))
        let films = try #require(services.locations[Self.films])
        try Data().write(to: URL(filePath: path))
        #expect(await services.locations.open().filter { $0.health.fault == nil }.map(\.name) == [.default])
        let monitor = FolderMonitor(
            services: services, location: films, finalizeQueue: FinalizeQueue(of: films, services))
        #expect(try await monitor.pass() == fixture.now.addingTimeInterval(1))
        #expect(films.health.fault != nil && films.isRecoveryDue)
        // The process died after the rename, and before the commit.
        let job = try await promotion(in: fixture)
        await FinalizeQueues(services).complete(try await fixture.store.recoverInterrupted().promoting)
        #expect(try await fixture.job(job).state.finalizePlan != nil)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: path + "-away", toPath: path)
        #expect(try await monitor.pass() == nil)
        #expect(films.health.fault == nil && !films.isRecoveryDue)
        #expect(try await fixture.job(job).state.finish?.file.path == "a.bin")
        #expect(fixture.temporary.bytes(of: "films/a.bin") == Array("abc".utf8))
        #expect(fixture.temporary.files.allSatisfy { !$0.hasSuffix(".part") }, "\(fixture.temporary.files)")
    }

    /// A job whose file has just got its name in `films-away`, beside a part that no job needs.
    private func promotion(in fixture: MaintenanceFixture) async throws -> JobID {
        let away = try DownloadsFolder(at: fixture.temporary.path("films-away"))
        _ = try away.makePart(PartID("part_B@films"))
        let file = fixture.temporary.path("films-away/a.bin")
        try Data("abc".utf8).write(to: URL(filePath: file))
        let opened = try Descriptor.open(file, flags: O_RDONLY, to: "open")
        let mark = opened.mark(try opened.status())
        let job = try await fixture.create()[0]
        try await fixture.admit()
        let receipt = Receipt(
            finalURL: "", redirects: [], status: 200, etag: nil, lastModified: nil, remoteAddress: nil,
            networkProtocol: "", lengthVerified: true, attempts: 1,
            timings: Receipt.Timings(connect: 0, firstByte: 0, transfer: 0, total: 0))
        let plan = FinalizePlan(
            part: PartID("part_A@films"), inode: mark.inode, conflict: .rename,
            file: FinishedFile(in: Self.films, path: "a.bin", size: 3, sha256: nil, contentType: nil, mark: mark),
            receipt: receipt)
        _ = try await fixture.store.apply(.finalizePlanned(plan), to: job)
        return job
    }

    /// Copies are necessary, because a rename does not reach the other file system.
    @Test func aStoppedCopyLeavesThePart() async throws {
        let films = try #require(services.locations[Self.films]).folder
        let (part, _) = try growing("part_A@films", "abc")
        let copy = try #require(try films.makeReady(part))
        #expect(copy.files.pieces == [0..<3])
        #expect(names(in: films.ready) == [".part_A@films.copy"])
        films.abandon(copy)
        #expect(names(in: films.ready).isEmpty && names(in: films.parts) == ["part_A@films.part"])
    }

    /// The process ends after one of the steps of the copy. The next attempt finds the part in either folder, and finishes the copy.
    @Test(arguments: CopyStep.allCases) private func aCopyIsRepeatedAfterACrash(_ last: CopyStep) async throws {
        let films = try #require(services.locations[Self.films]).folder
        let (part, stored) = try growing("part_A@films", "abc")
        let copy = try #require(try films.makeReady(part))
        if last >= .copied { try DownloadsFolder.clone(0..<3, from: copy.files.source, to: copy.files.copy) }
        if last >= .renamed {
            #expect(films.move(copy.hidden, to: copy.entry, isReplacing: true) == 0)
        }
        if last == .removed { #expect(films.remove(copy.original) == 0) }
        _ = films.sweepParts(needed: [part.id: 3])
        #expect(names(in: films.ready).allSatisfy { !$0.hasSuffix(".copy") })
        let file = try films.openPart(stored)
        let next = PartFile(
            part.id, having: stored.ranges, digesting: [], diskQueue: part.diskQueue, in: films
        ) { file }
        try next.open()
        if let copy = try films.makeReady(next) {
            try DownloadsFolder.clone(0..<3, from: copy.files.source, to: copy.files.copy)
            try films.finish(copy, of: next)
        }
        #expect(names(in: films.parts).isEmpty && names(in: films.ready) == ["part_A@films.part"])
        let bytes = try #require(fixture.temporary.bytes(of: "films/.incomplete/part_A@films.part"))
        #expect(String(decoding: bytes, as: UTF8.self) == "abc")
        #expect(try next.mark().inode == UInt64(films.entry(of: part.id).status?.st_ino ?? 0))
    }

    private enum CopyStep: Int, CaseIterable, Comparable {
        case begun, copied, renamed, removed

        static func < (one: Self, other: Self) -> Bool { one.rawValue < other.rawValue }
    }

    /// A complete part in the folder of incomplete files.
    private func growing(_ id: String, _ text: String) throws -> (PartFile, Part) {
        let films = try #require(services.locations[Self.films])
        let id = PartID(id)
        let part = PartFile(id, digesting: [], diskQueue: films.diskQueues.next(), in: films.folder) {
            [folder = films.folder] () throws(DiskError) in try folder.makePart(id)
        }
        try part.open()
        try Array(text.utf8).withUnsafeBytes { try part.write($0, at: 0) }
        try part.sync()
        let stored = Part(
            id: id, url: "", validators: Validators(etag: "\"v1\""), size: part.written.end, ranges: part.durable)
        return (part, stored)
    }

    private func names(in folder: Descriptor) -> [String] {
        services.locations.main.folder.names(in: folder).filter { ![".", ".."].contains($0) }.sorted()
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
