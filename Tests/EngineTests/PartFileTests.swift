import Downloads
import Foundation
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
        let continued = PartFile(promised.id, having: promised.ranges, digesting: [.sha256], lane: fixture.lane) {
            file
        }
        try continued.open()
        try Array("c".utf8).withUnsafeBytes { try continued.write($0, at: 2) }
        #expect(try continued.digests([.sha256], isStopped: { false }) == [.sha256: abc])
        #expect(try continued.digests([.sha256], isStopped: { true }) == nil)
    }

    @Test func whatIsDurableFollowsWhatIsWritten() throws {
        let fixture = try FolderFixture()
        let part = try fixture.part("part_1", "abc")
        #expect(part.isDirty)
        #expect((part.written.count, part.durable.count) == (3, 0))
        try part.sync()
        #expect(!part.isDirty)
        #expect((part.written.count, part.durable.count) == (3, 3))
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
        let swept = fixture.folder.sweepParts(promised: [PartID("part_1"): 6, PartID("part_2"): 2])
        #expect(swept == (removed: 1, truncated: 1, spared: 0))
        #expect(fixture.text(".incomplete/part_1.part") == "abcdef")
        #expect(fixture.text(".incomplete/part_2.part") == "ab")
        #expect(fixture.text(".incomplete/part_3.part") == nil)
    }

    /// They may be those of the database that was lost.
    @Test func unknownPartsThatAreOlderThanTheDatabaseAreLeftAlone() throws {
        let fixture = try FolderFixture()
        for name in ["part_1", "part_2"] { _ = try fixture.part(name, "abcdef") }
        let later = fixture.folder.sweepParts(promised: [PartID("part_1"): 2], sparing: Date(timeIntervalSinceNow: 60))
        #expect(later == (removed: 0, truncated: 1, spared: 1))
        #expect(fixture.text(".incomplete/part_2.part") == "abcdef")
        let earlier = fixture.folder.sweepParts(
            promised: [PartID("part_1"): 2], sparing: Date(timeIntervalSinceNow: -60))
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
        let start = Date(milliseconds: 0)
        var meter = RateMeter(since: start)
        #expect(meter.rate(at: start) == nil)
        for tick in 1...100 { meter.add(1000, at: start.addingTimeInterval(Double(tick) / 10)) }
        let steady = meter.rate(at: start.addingTimeInterval(10)) ?? 0
        #expect(abs(steady - 10_000) < 1)
        let quiet = meter.rate(at: start.addingTimeInterval(40)) ?? .infinity
        #expect(quiet < 100)
    }
}

@Suite struct AttemptControlTests {
    @Test func aStopAndAPromotionExcludeEachOther() {
        let stopped = AttemptControl()
        stopped.requestStop(.decided(.asked(.pause)))
        #expect(!stopped.beginPromotion())
        let promoting = AttemptControl()
        #expect(promoting.beginPromotion())
        promoting.requestStop(.decided(.asked(.cancel(keepsPart: false))))
        #expect(promoting.stop == nil)
    }

    @Test func aCancellationOverrulesAPauseButNotTheOtherWayRound() {
        let control = AttemptControl()
        control.requestStop(.decided(.asked(.pause)))
        control.requestStop(.decided(.asked(.cancel(keepsPart: false))))
        #expect(control.stop == .decided(.asked(.cancel(keepsPart: false))))
        control.requestStop(.decided(.asked(.pause)))
        control.requestStop(.shutdown)
        #expect(control.stop == .decided(.asked(.cancel(keepsPart: false))))
    }
}
