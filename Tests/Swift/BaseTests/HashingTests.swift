import Base
import Testing

/// Against the examples of the standards. `RunningDigestsTests` compares with other programs.
@Suite struct HashingTests {
    @Test func hashesTheExamplesOfTheStandards() {
        let text = Array("abc".utf8)
        #expect(HashFunction.md5.hash(text).hexadecimal == "900150983cd24fb0d6963f7d28e17f72")
        #expect(HashFunction.sha1.hash(text).hexadecimal == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(
            HashFunction.sha256.hash(text).hexadecimal
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(HashFunction.sha512.hash(text).count == 64)
        // RFC 7693, appendix A.
        #expect(HashFunction.blake2b.hash(text).prefix(4).hexadecimal == "ba80a53f")
    }

    /// The check values of the catalogue of parametrised CRC algorithms (reveng.sourceforge.io/crc-catalogue).
    @Test(arguments: [
        (HashFunction.crc32, "cbf43926"), (.crc32c, "e3069283"), (.crc64nvme, "ae8b14860a799888"),
    ])
    func computesCyclicRedundancyChecks(_ function: HashFunction, _ value: String) {
        let text = Array("123456789".utf8)
        #expect(function.hash(text).hexadecimal == value)
        // Neither the lengths nor the places of the pieces make a difference.
        let long = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        for cut in [0, 1, 7, 8, 9, 500] {
            var running = RunningHash(function)
            Array(long[..<cut]).withUnsafeBytes { running.update($0) }
            var copy = running
            copy.update("x")
            long.withUnsafeBytes { running.update(UnsafeRawBufferPointer(rebasing: $0[cut...])) }
            #expect(running.digest == function.hash(long) && running.digest != copy.digest)
        }
    }

    @Test func aCopyGoesOnByItself() {
        var one = RunningHash(.sha256)
        one.update("ab")
        var other = one
        other.update("x")
        one.update("c")
        #expect(one.digest == HashFunction.sha256.hash(Array("abc".utf8)))
        #expect(other.digest == HashFunction.sha256.hash(Array("abx".utf8)))
    }

    @Test func goesOnAfterADigestWasRead() {
        var hash = RunningHash(.md5)
        hash.update("a")
        #expect(hash.digest == HashFunction.md5.hash(Array("a".utf8)))
        hash.update("bc")
        #expect(hash.digest == HashFunction.md5.hash(Array("abc".utf8)))
    }

    /// RFC 4231, test cases 1 and 6: a short key, and one that is longer than a block.
    @Test func authenticatesTheExamplesOfRFC4231() {
        let short = MessageAuthentication.hmacSHA256(
            Array("Hi There".utf8), key: Array(repeating: 0x0b, count: 20))
        #expect(short.hexadecimal == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
        let long = MessageAuthentication.hmacSHA256(
            Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            key: Array(repeating: 0xaa, count: 131))
        #expect(long.hexadecimal == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }

    @Test func comparesWholeValues() {
        #expect(MessageAuthentication.isEqual([1, 2], [1, 2]))
        #expect(!MessageAuthentication.isEqual([1, 2], [1, 3]))
        #expect(!MessageAuthentication.isEqual([1, 2], [1]))
        #expect(MessageAuthentication.isEqual([], []))
    }
}

extension RunningHash {
    fileprivate mutating func update(_ text: String) {
        Array(text.utf8).withUnsafeBytes { update($0) }
    }
}
