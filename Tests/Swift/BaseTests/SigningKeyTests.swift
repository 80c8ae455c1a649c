import Testing

@testable import Base

@Suite struct SigningKeyTests {
    /// RFC 8032, section 7.1, test 3.
    @Test func signsAsTheSpecificationSays() throws {
        let key = try #require(
            SigningKey(bytes("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7")))
        #expect(key.publicKey == bytes("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025"))
        let signature = bytes(
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
                + "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a")
        #expect(key.signature(of: [0xaf, 0x82]) == signature)
    }

    @Test func everyKeyIsAnother() {
        #expect(SigningKey.random() != SigningKey.random())
        #expect(SigningKey([1, 2, 3]) == nil)
    }

    private func bytes(_ text: String) -> [UInt8] {
        stride(from: 0, to: text.count, by: 2).map { start in
            let index = text.index(text.startIndex, offsetBy: start)
            return UInt8(text[index..<text.index(index, offsetBy: 2)], radix: 16)!
        }
    }
}
