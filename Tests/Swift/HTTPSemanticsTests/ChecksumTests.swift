import Formats
import HTTPSemantics
import Testing

@Suite struct ChecksumTests {
    private let md5 = "900150983cd24fb0d6963f7d28e17f72"

    @Test func readsHexadecimalInAnyCase() {
        #expect(Checksum(.md5, hexadecimal: md5.uppercased())?.value == md5)
        for algorithm in Checksum.Algorithm.allCases {
            let text = String(repeating: "aF", count: algorithm.size)
            #expect(Checksum(algorithm, hexadecimal: text)?.value == text.lowercased())
            #expect(Checksum(algorithm, hexadecimal: text + "aF") == nil)
            #expect(Checksum(algorithm, hexadecimal: String(text.dropLast())) == nil)
            #expect(Checksum(algorithm, hexadecimal: String(text.dropLast(2))) == nil)
        }
    }

    @Test func refusesOtherCharactersInHexadecimal() {
        let rest = String(md5.dropLast())
        for last in ["g", "G", "/", ":", "@", "`", " ", "\n", "\0", "ａ", "٣", "é"] {
            #expect(Checksum(.md5, hexadecimal: rest + last) == nil, "\(last)")
        }
        for text in ["", "0x" + md5.dropLast(2), " " + rest, "-" + rest, String(repeating: "９", count: 32)] {
            #expect(Checksum(.md5, hexadecimal: text) == nil, "\(text)")
        }
    }

    @Test func requiresLengthOfAlgorithm() {
        #expect(Checksum(.sha1, bytes: Array(0..<20))?.value == "000102030405060708090a0b0c0d0e0f10111213")
        #expect(Checksum(.sha1, bytes: Array(0..<19)) == nil)
        #expect(Checksum(.sha1, bytes: Array(0..<21)) == nil)
        #expect(([0, 15, 16, 255] as [UInt8]).hexadecimal == "000f10ff")
    }
}
