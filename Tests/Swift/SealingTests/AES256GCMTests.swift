import Testing

@testable import Sealing

/// Against test cases 13 to 16 of "The Galois/Counter Mode of Operation (GCM)", McGrew and Viega, which NIST SP 800-38D
/// cites.
@Suite struct AES256GCMTests {
    struct Example: Sendable {
        let key, nonce, data, text, box: String
    }

    private static let key = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"
    private static let text =
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
        + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
    private static let encrypted =
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
        + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
    private static let zeros = String(repeating: "0", count: 64)

    static let examples = [
        Example(
            key: zeros, nonce: String(zeros.prefix(24)), data: "", text: "", box: "530f8afbc74536b9a963b4f1c4cb738b"),
        Example(
            key: zeros, nonce: String(zeros.prefix(24)), data: "", text: String(zeros.prefix(32)),
            box: "cea7403d4d606b6e074ec5d3baf39d18" + "d0d1c8a799996bf0265b98b5d48ab919"),
        Example(
            key: key, nonce: "cafebabefacedbaddecaf888", data: "", text: text + "1aafd255",
            box: encrypted + "898015ad" + "b094dac5d93471bdec1a502270e3cc6c"),
        Example(
            key: key, nonce: "cafebabefacedbaddecaf888", data: "feedfacedeadbeeffeedfacedeadbeefabaddad2", text: text,
            box: encrypted + "76fc6ece0f4e1768cddf8853bb2d551b"),
    ]

    private func bytes(_ digits: String) -> [UInt8] {
        stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(digits.dropFirst($0).prefix(2), radix: 16) }
    }

    @Test(arguments: examples) func sealsAndOpensTheExamples(_ example: Example) throws {
        let key = try #require(SealingKey(bytes(example.key)))
        let (nonce, data, text, box) = (
            bytes(example.nonce), bytes(example.data), bytes(example.text), bytes(example.box)
        )
        #expect(AES256GCM.seal(text, nonce: nonce, authenticating: data, with: key) == box)
        #expect(AES256GCM.open(box, nonce: nonce, authenticating: data, with: key) == text)
    }

    @Test func refusesEveryChangedBit() throws {
        let key = SealingKey.random()
        let (nonce, data, text) = (AES256GCM.makeNonce(), Array("place".utf8), Array("secret".utf8))
        let box = AES256GCM.seal(text, nonce: nonce, authenticating: data, with: key)
        func changes(of bytes: [UInt8]) -> [[UInt8]] {
            (0..<bytes.count * 8).map { bit in
                var changed = bytes
                changed[bit / 8] ^= 1 << UInt8(bit % 8)
                return changed
            }
        }
        for box in changes(of: box) {
            #expect(AES256GCM.open(box, nonce: nonce, authenticating: data, with: key) == nil)
        }
        for nonce in changes(of: nonce) {
            #expect(AES256GCM.open(box, nonce: nonce, authenticating: data, with: key) == nil)
        }
        for data in changes(of: data) {
            #expect(AES256GCM.open(box, nonce: nonce, authenticating: data, with: key) == nil)
        }
        for length in 0..<box.count {
            #expect(AES256GCM.open(Array(box.prefix(length)), nonce: nonce, authenticating: data, with: key) == nil)
        }
        #expect(AES256GCM.open(box, nonce: nonce, authenticating: data, with: .random()) == nil)
        #expect(AES256GCM.open(box, nonce: nonce, authenticating: data, with: key) == text)
    }

    @Test func makesAnotherNonceEachTime() {
        let nonces = Set((0..<1000).map { _ in AES256GCM.makeNonce() })
        #expect(nonces.count == 1000 && nonces.allSatisfy { $0.count == 12 })
    }
}
