import Base
import Testing

@Suite struct StorableHashTests {
    private static let functions: [(StorableHash.Function, HashFunction)] = [
        (.sha256, .sha256), (.sha512, .sha512), (.sha1, .sha1), (.md5, .md5),
    ]

    private func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }

    /// A process stores the state after each possible number of bytes in a block, and another one continues.
    @Test(arguments: functions) func continuesFromEveryState(_ function: StorableHash.Function, _ other: HashFunction)
        throws
    {
        let all = bytes(300)
        for cut in 0...all.count {
            var first = StorableHash(function)
            all[..<cut].withUnsafeBytes { first.update($0) }
            var second = try #require(StorableHash(stored: first.stored))
            #expect(second.count == UInt64(cut) && second.digest == first.digest)
            #expect(second.stored == first.stored)
            all[cut...].withUnsafeBytes { second.update($0) }
            #expect(second.digest == other.hash(all), "\(function) after \(cut) bytes")
        }
    }

    @Test(arguments: functions) func isTheSameAsTheOtherHash(_ function: StorableHash.Function, _ other: HashFunction) {
        var hash = StorableHash(function)
        #expect(hash.digest == other.hash([]))
        let all = bytes(1_000_003)
        for start in stride(from: 0, to: all.count, by: 4_097) {
            all[start..<min(start + 4_097, all.count)].withUnsafeBytes { hash.update($0) }
        }
        #expect(hash.digest == other.hash(all))
    }

    /// More than 2^32 bits, so that both words of the count matter.
    @Test func countsLargeFiles() throws {
        let piece = [UInt8](repeating: 7, count: 64 << 20)
        var (whole, pieces) = (RunningHash(.md5), StorableHash(.md5))
        for _ in 0..<9 {
            piece.withUnsafeBytes { whole.update($0) }
            piece.withUnsafeBytes { pieces.update($0) }
            pieces = try #require(StorableHash(stored: pieces.stored))
        }
        #expect(pieces.digest == whole.digest && pieces.count == 9 * 64 << 20)
    }

    @Test(arguments: HashFunction.allCases) func everyDigestButBLAKE2bCanBeStored(_ function: HashFunction) throws {
        guard var digest = StorableDigest(function) else {
            #expect(function == .blake2b)
            return
        }
        let all = bytes(1_000)
        for start in stride(from: 0, to: all.count, by: 77) {
            all[start..<min(start + 77, all.count)].withUnsafeBytes { digest.update($0) }
            digest = try #require(StorableDigest(function, stored: digest.stored))
        }
        #expect(digest.digest == function.hash(all))
        #expect(StorableDigest(function, stored: [1, 2, 3]) == nil)
    }

    /// The form must not change: databases have it.
    @Test func theFormOfAStoredState() {
        var hash = StorableHash(.md5)
        Array("abc".utf8).withUnsafeBytes { hash.update($0) }
        #expect(
            hash.stored == [4, 0, 0, 0, 0, 0, 0, 0, 3]
                + [0x67, 0x45, 0x23, 0x01, 0xEF, 0xCD, 0xAB, 0x89, 0x98, 0xBA, 0xDC, 0xFE, 0x10, 0x32, 0x54, 0x76]
                + Array("abc".utf8))
    }

    @Test(arguments: functions) func otherBytesAreNoState(_ function: StorableHash.Function, _ other: HashFunction) {
        let stored = StorableHash(function).stored
        #expect(StorableHash(stored: []) == nil)
        #expect(StorableHash(stored: Array(stored.dropLast())) == nil)
        #expect(StorableHash(stored: stored + [0]) == nil)
        #expect(StorableHash(stored: [0] + stored.dropFirst()) == nil)
        #expect(StorableHash(stored: [stored[0], 0xFF] + stored.dropFirst(2)) == nil)
    }
}
