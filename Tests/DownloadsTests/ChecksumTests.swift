import Downloads
import Foundation
import Testing

@Suite struct ChecksumTests {
    private let md5 = "900150983cd24fb0d6963f7d28e17f72"

    @Test func hexadecimalInAnyCaseIsKeptInLowerCase() {
        #expect(Checksum(.md5, hexadecimal: md5.uppercased())?.value == md5)
        for algorithm in Checksum.Algorithm.allCases {
            let text = String(repeating: "aF", count: algorithm.size)
            #expect(Checksum(algorithm, hexadecimal: text)?.value == text.lowercased())
            #expect(Checksum(algorithm, hexadecimal: text + "aF") == nil)
            #expect(Checksum(algorithm, hexadecimal: String(text.dropLast())) == nil)
            #expect(Checksum(algorithm, hexadecimal: String(text.dropLast(2))) == nil)
        }
    }

    @Test func nothingElseIsHexadecimal() {
        let rest = String(md5.dropLast())
        for last in ["g", "G", "/", ":", "@", "`", " ", "\n", "\0", "ａ", "٣", "é"] {
            #expect(Checksum(.md5, hexadecimal: rest + last) == nil, "\(last)")
        }
        for text in ["", "0x" + md5.dropLast(2), " " + rest, "-" + rest, String(repeating: "９", count: 32)] {
            #expect(Checksum(.md5, hexadecimal: text) == nil, "\(text)")
        }
    }

    @Test func bytesAreAsManyAsTheAlgorithmGives() {
        #expect(Checksum(.sha1, bytes: Array(0..<20))?.value == "000102030405060708090a0b0c0d0e0f10111213")
        #expect(Checksum(.sha1, bytes: Array(0..<19)) == nil)
        #expect(Checksum(.sha1, bytes: Array(0..<21)) == nil)
        #expect(Checksum.hexadecimal([0, 15, 16, 255]) == "000f10ff")
    }

    @Test func itIsStoredByItsNames() throws {
        let checksum = try #require(Checksum(.md5, hexadecimal: md5))
        var spec = JobSpec(url: "https://host/")
        spec.checksum = checksum
        let stored = try JSONEncoder().encode(spec)
        #expect(String(decoding: stored, as: UTF8.self).contains(#""algorithm":"md5""#))
        #expect(try JSONDecoder().decode(JobSpec.self, from: stored).checksum == checksum)
        let before = Data(#"{"url":"https://host/"}"#.utf8)
        #expect(try JSONDecoder().decode(JobSpec.self, from: before).checksum == nil)
        #expect(!Sample.job().document().written.contains("checksum"))
    }
}

/// What responses say their file hashes to.
@Suite struct DigestClaimTests {
    private static func base64(_ byte: UInt8, _ count: Int) -> String {
        Data(repeating: byte, count: count).base64EncodedString()
    }

    private func claims(_ status: Int, _ headers: (String, String)...) -> [DigestClaim] {
        ResponseFacts(status: status, headers: headers.map { (name: $0.0, value: $0.1) }).label.digests
    }

    private func claim(_ claimant: DigestClaim.Claimant, _ algorithm: Checksum.Algorithm, _ byte: UInt8) -> DigestClaim
    {
        DigestClaim(claimant, Checksum(algorithm, bytes: Array(repeating: byte, count: algorithm.size))!)
    }

    private let sha256 = "sha-256=:\(base64(1, 32)):"
    private let sha512 = "sha-512=:\(base64(2, 64)):"

    @Test func everyKnownAlgorithmCountsAndTheStrongestFirst() {
        let field =
            "unixsum=:AAA=:, md5=:\(Self.base64(4, 16)):, sha=:\(Self.base64(3, 20)):;p=1, \(sha256), x=1, \(sha512)"
        #expect(
            claims(200, ("Repr-Digest", field)) == [
                claim(.reprDigest, .sha512, 2), claim(.reprDigest, .sha256, 1), claim(.reprDigest, .sha1, 3),
                claim(.reprDigest, .md5, 4),
            ])
        #expect(
            claims(200, ("repr-digest", sha256), ("REPR-DIGEST", sha512))
                == [claim(.reprDigest, .sha512, 2), claim(.reprDigest, .sha256, 1)])
    }

    /// A digest of a part says nothing of the whole, one of the representation does.
    @Test func whatCountsDependsOnTheStatus() {
        let all = [("Content-MD5", Self.base64(4, 16)), ("Content-Digest", sha512), ("Repr-Digest", sha256)]
        let repr = claim(.reprDigest, .sha256, 1)
        for status in [200, 201, 202, 203] {
            #expect(
                claims(status, all[0], all[1], all[2])
                    == [repr, claim(.contentDigest, .sha512, 2), claim(.contentMD5, .md5, 4)])
        }
        #expect(claims(206, all[0], all[1], all[2]) == [repr])
        for status in [204, 302, 404, 416, 500] { #expect(claims(status, all[0], all[1], all[2]).isEmpty) }
    }

    @Test func whatIsMalformedSaysNothing() {
        for field in [
            "", "sha-256", "sha-256=1", "sha-256=\"abc\"", "sha-256=:AA==:", "sha-256=:\(Self.base64(1, 33)):",
            "sha-256=\(Self.base64(1, 32))", "SHA-256=:\(Self.base64(1, 32)):", "\(sha256),", "\(sha256);",
            "\(sha256) x",
            "sha-256=(:\(Self.base64(1, 32)):)", "sha-1=:\(Self.base64(1, 20)):", "sha-384=:\(Self.base64(1, 48)):",
        ] {
            #expect(claims(200, ("Repr-Digest", field)).isEmpty, "\(field)")
        }
        for value in ["", "x", Self.base64(4, 15), Self.base64(4, 17), "AAAA", "!" + Self.base64(4, 16), "\0"] {
            #expect(claims(200, ("Content-MD5", value)).isEmpty, "\(value)")
        }
        let md5 = Self.base64(4, 16)
        #expect(claims(200, ("Content-MD5", " \(md5)\t")) == [claim(.contentMD5, .md5, 4)])
        #expect(claims(200, ("Content-MD5", md5), ("Content-MD5", md5)).isEmpty)
    }

    @Test func aRefutationSaysWhoWasWrong() throws {
        let digests: [Checksum.Algorithm: String] = [
            .md5: String(repeating: "04", count: 16), .sha256: String(repeating: "09", count: 32),
        ]
        let right = claim(.client, .md5, 4)
        #expect(right.refutation(by: digests) == nil)
        #expect([right].refutation(by: digests) == nil)
        #expect([DigestClaim]().refutation(by: [:]) == nil)
        for (claimant, name): (DigestClaim.Claimant, String) in [
            (.client, "the job's checksum"), (.reprDigest, "the server's Repr-Digest"),
            (.contentDigest, "the server's Content-Digest"), (.contentMD5, "the server's Content-MD5"),
        ] {
            let failure = try #require([right, claim(claimant, .sha256, 1)].refutation(by: digests))
            #expect(failure.code == .checksumMismatch)
            for part in [name, "sha-256", String(repeating: "01", count: 32), String(repeating: "09", count: 32)] {
                #expect(failure.message.contains(part), "\(failure.message)")
            }
        }
        // What was not computed bears nothing out.
        #expect(claim(.client, .sha1, 4).refutation(by: digests)?.code == .checksumMismatch)
    }
}
