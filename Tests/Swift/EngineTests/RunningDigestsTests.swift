import Downloads
import Foundation
import HTTPSemantics
import TestKit
import Testing

@testable import Engine

/// All digests in one pass, compared with what the standards and other programs say.
@Suite struct RunningDigestsTests {
    private func digests(
        _ pieces: [[UInt8]], _ algorithms: Set<Checksum.Algorithm> = Set(Checksum.Algorithm.allCases)
    ) -> [Checksum.Algorithm: String] {
        var running = RunningDigests(algorithms)
        for piece in pieces { piece.withUnsafeBytes { running.update($0) } }
        return running.finalize()
    }

    /// FIPS 180-4's examples, and RFC 1321's, section A.5.
    @Test func theExamplesOfTheStandards() {
        #expect(
            digests([Array("abc".utf8)]) == [
                .sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                .sha512:
                    "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
                .sha1: "a9993e364706816aba3e25717850c26c9cd0d89d", .md5: "900150983cd24fb0d6963f7d28e17f72",
            ])
        #expect(
            digests([]) == [
                .sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                .sha512:
                    "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e",
                .sha1: "da39a3ee5e6b4b0d3255bfef95601890afd80709", .md5: "d41d8cd98f00b204e9800998ecf8427e",
            ])
    }

    @Test func computesOnlyRequestedDigests() {
        #expect(digests([[1]], []).isEmpty)
        for algorithm in Checksum.Algorithm.allCases {
            #expect(Array(digests([[1]], [algorithm]).keys) == [algorithm])
        }
    }

    @Test func piecesMakeNoDifference() {
        let bytes = Content.random(seed: 3, count: 1_000_003)
        let pieces = stride(from: 0, to: bytes.count, by: 65_537).map { start in
            Array(bytes[start..<min(start + 65_537, bytes.count)])
        }
        #expect(digests(pieces) == digests([bytes]))
        #expect(digests([[], bytes, []]) == digests([bytes]))
    }

    @Test(arguments: [
        ("sha256sum", Checksum.Algorithm.sha256), ("sha512sum", .sha512), ("sha1sum", .sha1), ("md5sum", .md5),
    ])
    func theSystemsProgramsAgree(_ program: String, _ algorithm: Checksum.Algorithm) async throws {
        for count in [0, 1, 63, 64, 127, 128, 100_001] {
            let bytes = Content.random(seed: 4, count: count)
            let run = try await ChildProcess.run(program, [], input: bytes)
            #expect(run.succeeded, "\(run)")
            #expect(digests([bytes])[algorithm] == String(run.output.prefix { $0 != " " }), "\(count)")
        }
    }

    // MARK: Of a part

    /// Those that were computed while the bytes came, else those read back: the same, for all algorithms that can be wanted.
    @Test func aPartsDigestsAreThoseOfItsBytes() throws {
        let fixture = try FolderFixture()
        let part = try fixture.part("part_1", "abc")
        let all = Set(Checksum.Algorithm.allCases)
        let expected = digests([Array("abc".utf8)])
        #expect(try part.digests(all, isStopped: { false }) == expected)
        #expect(try part.digests([.sha256], isStopped: { true }) == expected.filter { $0.key == .sha256 })
        // Of another algorithm than it was begun with.
        #expect(try part.digests([.md5], isStopped: { false }) == expected.filter { $0.key == .md5 })
        #expect(try part.digests([.md5], isStopped: { true }) == nil)
        #expect(try part.digests([], isStopped: { false }) != nil)
    }

    /// Pieces that come out of order are read back from where the order was broken.
    @Test func piecesOutOfOrder() throws {
        let fixture = try FolderFixture()
        let part = try fixture.part("part_1", "abc")
        for (text, offset): (String, Int64) in [("ghi", 6), ("def", 3)] {
            try Array(text.utf8).withUnsafeBytes { try part.write($0, at: offset) }
        }
        let expected = digests([Array("abcdefghi".utf8)])
        #expect(try part.digests([.sha256], isStopped: { true }) == nil)
        #expect(try part.digests([.sha256], isStopped: { false }) == expected.filter { $0.key == .sha256 })
        #expect(try part.digests([.sha1, .sha256], isStopped: { false })?[.sha1] == expected[.sha1])
    }

    /// What was kept was damaged meanwhile: only the bytes on disk count.
    @Test func bytesHadBeforeAreReadFromTheDisk() throws {
        let fixture = try FolderFixture()
        _ = try fixture.part("part_1", "abX")
        let promised = Part(
            id: PartID("part_1"), url: "", validators: Validators(), size: 3, ranges: ByteRanges(prefix: 3))
        let file = try fixture.folder.openPart(promised)
        let part = PartFile(
            promised.id, having: promised.ranges, digesting: [.md5], diskQueue: fixture.diskQueue, in: fixture.folder
        ) { file }
        try part.open()
        #expect(try part.digests([.md5], isStopped: { false }) == digests([Array("abX".utf8)], [.md5]))
    }
}
