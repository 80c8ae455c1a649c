import Rehearsals
import Testing

/// The content is part of the contract: users compare files from earlier versions with it.
@Suite struct RehearsalContentTests {
    @Test func contentIsTheSplitMix64Sequence() {
        let expected: [UInt8] = [
            0xE2, 0x20, 0xA8, 0x39, 0x7B, 0x1D, 0xCD, 0xAF, 0x6E, 0x78, 0x9E, 0x6A, 0xA1, 0xB9, 0x65, 0xF4,
            0x06, 0xC4, 0x5D, 0x18, 0x80, 0x09, 0x45, 0x4F, 0xF8, 0x8B, 0xB8, 0xA8, 0x72, 0x4C, 0x81, 0xEC,
        ]
        #expect(RehearsalContent.bytes(0..<32) == expected)
    }

    @Test func rangesAreSlicesOfTheSameContent() {
        let whole = RehearsalContent.bytes(0..<100)
        for first in 0..<40 {
            for end in first...100 {
                #expect(RehearsalContent.bytes(Int64(first)..<Int64(end)) == Array(whole[first..<end]))
            }
        }
    }

    @Test func distantRangesAreComputedDirectly() {
        let end: Int64 = 1 << 40
        let last = RehearsalContent.bytes(end - 20..<end)
        #expect(last.count == 20)
        #expect(Array(last.suffix(3)) == RehearsalContent.bytes(end - 3..<end))
    }
}
