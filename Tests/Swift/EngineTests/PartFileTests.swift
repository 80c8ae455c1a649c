import Base
import CLinux
import Downloads
import Foundation
import HTTPSemantics
import TestKit
import Testing

@testable import Engine

@Suite struct PartFileTests {
    private let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    @Test func theRunningHashAndTheOneReadBackAgree() throws {
        let fixture = try FolderFixture()
        let part = try fixture.part("part_1", "abc")
        #expect(try part.digests([.sha256], isStopped: { false }) == [.sha256: abc])

        let folder = fixture.folder
        let promised = Part(
            id: PartID("part_1"), url: "", validators: Validators(), size: 3, ranges: ByteRanges(prefix: 2))
        let file = try folder.openPart(promised)
        let continued = PartFile(
            promised.id, having: promised.ranges, digesting: [.sha256], diskQueue: fixture.diskQueue, in: fixture.folder
        ) {
            file
        }
        try continued.open()
        try Array("c".utf8).withUnsafeBytes { try continued.write($0, at: 2) }
        #expect(try continued.digests([.sha256], isStopped: { false }) == [.sha256: abc])
        #expect(try continued.digests([.sha256], isStopped: { true }) == nil)
    }

    @Test func durableBytesFollowWrittenBytes() throws {
        let fixture = try FolderFixture()
        let part = try fixture.part("part_1", "abc")
        #expect(part.isDirty)
        #expect((part.written.count, part.durable.count) == (3, 0))
        try part.sync()
        #expect(!part.isDirty)
        #expect((part.written.count, part.durable.count) == (3, 3))
    }

    /// Segments, and bytes that are written once more.
    @Test func writtenBytesNeedNotFollowEachOther() throws {
        let fixture = try FolderFixture()
        let part = try fixture.part("part_1", "abc")
        func write(_ text: String, at start: Int64) throws {
            try Array(text.utf8).withUnsafeBytes { try part.write($0, at: start) }
        }
        try part.sync()
        try write("bc", at: 1)
        #expect(!part.isDirty && part.written == ByteRanges(prefix: 3))
        try write("xyz", at: 10)
        try write("", at: 13)
        try write("z", at: 13)
        try write("def", at: 3)
        #expect(part.isDirty && part.written.pairs == [[0, 6], [10, 14]] && part.bytesPending == 7)
        try write("efg", at: 4)
        #expect(part.written.pairs == [[0, 7], [10, 14]] && part.durable.pairs == [[0, 3]])
        try part.sync()
        #expect(!part.isDirty && part.durable == part.written && part.bytesPending == 0)
    }

    @Test func manyPartsShareOneSync() throws {
        let fixture = try FolderFixture()
        let parts = try (0..<20).map { try fixture.part("part_\($0)", "abc") }
        #expect(fixture.folder.sync(parts).allSatisfy { $0 == nil })
        #expect(parts.allSatisfy { $0.durable == ByteRanges(prefix: 3) })
    }

    @Test func aPromisedPartIsCutBackToItsPromise() throws {
        let fixture = try FolderFixture()
        _ = try fixture.part("part_1", "abcdef")
        var promised = Part(
            id: PartID("part_1"), url: "", validators: Validators(), size: nil, ranges: ByteRanges(prefix: 4))
        _ = try fixture.folder.openPart(promised)
        #expect(fixture.text(".incomplete/part_1.part") == "abcd")
        promised.ranges = ByteRanges(prefix: 9)
        #expect(throws: DownloadsFolder.PartLoss.shorterThanRecorded) { try fixture.folder.openPart(promised) }
        promised.id = PartID("part_2")
        #expect(throws: DownloadsFolder.PartLoss.missing) { try fixture.folder.openPart(promised) }
    }

    @Test func leftOverPartsAreSwept() throws {
        let fixture = try FolderFixture()
        for name in ["part_1", "part_2", "part_3"] { _ = try fixture.part(name, "abcdef") }
        let swept = fixture.folder.sweepParts(needed: [PartID("part_1"): 6, PartID("part_2"): 2])
        #expect(swept == (removed: 1, truncated: 1, spared: 0))
        #expect(fixture.text(".incomplete/part_1.part") == "abcdef")
        #expect(fixture.text(".incomplete/part_2.part") == "ab")
        #expect(fixture.text(".incomplete/part_3.part") == nil)
    }

    /// They may be those of the database that was lost.
    @Test func unknownPartsThatAreOlderThanTheDatabaseAreLeftAlone() throws {
        let fixture = try FolderFixture()
        for name in ["part_1", "part_2"] { _ = try fixture.part(name, "abcdef") }
        let later = fixture.folder.sweepParts(needed: [PartID("part_1"): 2], sparing: Date(timeIntervalSinceNow: 60))
        #expect(later == (removed: 0, truncated: 1, spared: 1))
        #expect(fixture.text(".incomplete/part_2.part") == "abcdef")
        let earlier = fixture.folder.sweepParts(
            needed: [PartID("part_1"): 2], sparing: Date(timeIntervalSinceNow: -60))
        #expect(earlier == (removed: 1, truncated: 0, spared: 0))
    }

    @Test func aPartIsNeverWrittenOverAnother() throws {
        let fixture = try FolderFixture()
        _ = try fixture.part("part_1", "abc")
        #expect(throws: DiskError("make the part", code: EEXIST)) { try fixture.folder.makePart(PartID("part_1")) }
    }

    @Test func aFullDiskIsAnotherMatterThanABrokenOne() {
        #expect(DiskError("write", code: ENOSPC).failure.code == .noSpace)
        #expect(DiskError("write", code: EDQUOT).failure.code == .noSpace)
        #expect(DiskError("write", code: EIO).failure.code == .storageError)
    }

    @Test func aFolderThatCannotBeUsedIsSaidSo() throws {
        let temporary = try TemporaryFolder()
        let file = try temporary.write("x", to: "file")
        #expect(throws: EngineError.self) { try DownloadsFolder(at: file) }
        #expect(throws: EngineError.self) { try DownloadsFolder(at: file + "/below") }
    }
}

@Suite struct RateMeterTests {
    @Test func settlesOnASteadyRateAndForgetsAnOldOne() throws {
        let start = Duration.zero
        var meter = RateMeter(since: start)
        #expect(meter.rate(at: start) == nil)
        for tick in 1...100 { meter.add(1000, at: start + .milliseconds(100 * tick)) }
        let steady = meter.rate(at: start + .seconds(10)) ?? 0
        #expect(abs(steady - 10_000) < 1)
        let quiet = meter.rate(at: start + .seconds(40)) ?? .infinity
        #expect(quiet < 100)
    }
}

@Suite struct AttemptControlTests {
    private func control() -> AttemptControl {
        let (time, spec) = (ManualTime(), JobSpec(url: "http://a/file"))
        let job = Job(id: JobID("job_a"), session: Name(trusted: "s"), batch: 1, spec: spec, createdAt: time.now)
        return AttemptControl(
            of: job, ResolvedSpec(job, in: SessionConfiguration()), under: [], time: time, total: ReceivedBytes())
    }

    @Test func aStopAndAPromotionExcludeEachOther() {
        let stopped = control()
        stopped.requestStop(.decided(.asked(.pause)))
        #expect(!stopped.beginFinalizing())
        let finalizing = control()
        #expect(finalizing.beginFinalizing())
        finalizing.requestStop(.decided(.asked(.cancel(keepsPart: false))))
        #expect(finalizing.stop == nil)
    }

    @Test func aCancellationOverrulesAPauseButNotTheOtherWayRound() {
        let control = control()
        control.requestStop(.decided(.asked(.pause)))
        control.requestStop(.decided(.asked(.cancel(keepsPart: false))))
        #expect(control.stop == .decided(.asked(.cancel(keepsPart: false))))
        control.requestStop(.decided(.asked(.pause)))
        control.requestStop(.shutdown)
        #expect(control.stop == .decided(.asked(.cancel(keepsPart: false))))
    }
}

/// A sync that failed is never believed.
@Suite struct FailedSyncOfPartTests {
    /// A device that takes every byte and cannot be synced.
    private func unsyncable(_ fixture: FolderFixture) throws -> PartFile {
        let device = try Descriptor.open("/dev/null", flags: O_RDWR, to: "open the device")
        let part = PartFile(PartID("part_0"), digesting: [], diskQueue: fixture.diskQueue, in: fixture.folder) {
            device
        }
        try part.open()
        return part
    }

    @Test func aPartWhoseSyncFailedTakesNoByteAndNoSync() throws {
        let fixture = try FolderFixture()
        let part = try fixture.part("part_1", "abc")
        part.fail(DiskError("sync the part", code: EIO))
        #expect(throws: DiskError("sync the part", code: EIO)) { try part.sync() }
        #expect(throws: DiskError("sync the part", code: EIO)) {
            try Array("d".utf8).withUnsafeBytes { try part.write($0, at: 3) }
        }
        #expect(!part.isDirty)
        #expect(part.durable.isEmpty)
        #expect(throws: DiskError("sync the part", code: EIO)) { try part.recordDurable(part.written) }
    }

    @Test func aFailedFdatasyncBreaksThePart() throws {
        let fixture = try FolderFixture()
        let part = try unsyncable(fixture)
        #expect(throws: DiskError("sync the part", code: EINVAL)) { try part.sync() }
        #expect(part.fault == DiskError("sync the part", code: EINVAL))
    }

    @Test func bytesThatWerePendingWhenAFileSystemSyncFailedAreLost() throws {
        let fixture = try FolderFixture()
        let (pending, clean) = (try fixture.part("part_1", "abc"), try fixture.part("part_2", "abc"))
        try clean.sync()
        // A descriptor that has no file system to sync: the call fails as that of a failing disk does.
        let path = try Descriptor.open("/", flags: linux_O_PATH, to: "open a path")
        #expect(throws: DiskError.self) { try fixture.folder.syncs.sync(path) }
        #expect(throws: DiskError.self) { try pending.sync() }
        #expect(pending.fault != nil)
        try Array("d".utf8).withUnsafeBytes { try clean.write($0, at: 3) }
        try clean.sync()
        #expect(clean.durable == ByteRanges(prefix: 4))
    }

    @Test func theDurableBytesAreCopiedToANewPart() throws {
        let fixture = try FolderFixture()
        let part = try fixture.part("part_1", "abc")
        try part.sync()
        try Array("xyz".utf8).withUnsafeBytes { try part.write($0, at: 5) }
        try fixture.folder.copyDurable(of: part, to: PartID("part_2"))
        #expect(fixture.text(".incomplete/part_2.part") == "abc")
        #expect(throws: DiskError("make the part", code: EEXIST)) {
            try fixture.folder.copyDurable(of: part, to: PartID("part_2"))
        }
    }

    @Test func theFolderOfPartsIsSyncedOnceBeforeTheFirstPromise() throws {
        let fixture = try FolderFixture()
        let part = try fixture.part("part_1", "abc")
        #expect(!part.isNameDurable)
        #expect(fixture.folder.syncForCheckpoint([part]).allSatisfy { $0 == nil })
        #expect(part.isNameDurable)
    }

    @Test(arguments: ["cut", "removed"])
    func aPartThatAnotherProgramHasCutOrRemovedIsNotWrittenTo(_ what: String) throws {
        let fixture = try FolderFixture()
        let part = try fixture.part("part_1", "abc")
        let path = fixture.temporary.path(".incomplete/part_1.part")
        if what == "cut" { #expect(truncate(path, 1) == 0) } else { #expect(unlink(path) == 0) }
        #expect(throws: DiskError.self) { try Array("d".utf8).withUnsafeBytes { try part.write($0, at: 3) } }
        #expect(part.fault?.isForeign == true)
    }
}
