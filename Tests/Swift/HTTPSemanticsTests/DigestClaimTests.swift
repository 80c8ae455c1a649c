import Foundation
import HTTPSemantics
import Testing

/// The digests in the heads of responses.
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

    @Test func readsEveryKnownAlgorithmStrongestFirst() {
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

    /// `Content-Digest` of a range says nothing about the whole file; `Repr-Digest` does.
    @Test func choosesDigestFieldsByStatus() {
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

    /// Digests of object stores and of RFC 3230 are of the whole file, also in a 206.
    @Test(arguments: [200, 206]) func readsDigestsOfObjectStores(_ status: Int) {
        let (sha256, md5, sha1) = (Self.base64(1, 32), Self.base64(4, 16), Self.base64(3, 20))
        #expect(
            claims(status, ("Digest", "sha-256=\(sha256), unixsum=30637,MD5=\(md5)"))
                == [claim(.digest, .sha256, 1), claim(.digest, .md5, 4)])
        #expect(
            claims(status, ("x-goog-hash", "crc32c=n03x6A=="), ("x-goog-hash", "md5=\(md5)"))
                == [claim(.googleHash, .md5, 4)])
        #expect(claims(status, ("x-goog-hash", "crc32c=n03x6A==,md5=\(md5)")) == [claim(.googleHash, .md5, 4)])
        #expect(
            claims(status, ("x-amz-checksum-sha256", sha256), ("x-amz-checksum-sha1", sha1))
                == [claim(.amazonSHA256, .sha256, 1), claim(.amazonSHA1, .sha1, 3)])
    }

    /// The checksum of the checksums of parts, and the hash of an object that was decompressed on its way, are not of these bytes.
    @Test func ignoresDigestsOfOtherBytes() {
        let (sha256, md5) = (Self.base64(1, 32), Self.base64(4, 16))
        #expect(claims(200, ("x-amz-checksum-sha256", "\(sha256)-3")).isEmpty)
        #expect(claims(200, ("x-amz-checksum-sha256", sha256), ("x-amz-checksum-type", "COMPOSITE")).isEmpty)
        #expect(claims(200, ("x-amz-checksum-sha256", sha256), ("x-amz-checksum-type", "FULL_OBJECT")).count == 1)
        #expect(
            claims(200, ("x-goog-hash", "crc32c=n03x6A=="))
                == [DigestClaim(.googleHash, Checksum(.crc32c, hexadecimal: "9f4df1e8")!)])
        #expect(
            claims(200, ("x-amz-checksum-crc32", "y/Q5Jg=="), ("x-amz-checksum-crc64nvme", "rosUhgp5mIg="))
                == [DigestClaim(.amazonCRC64, Checksum(.crc64nvme, hexadecimal: "ae8b14860a799888")!)])
        #expect(
            claims(200, ("x-amz-checksum-crc32", "y/Q5Jg=="), ("x-amz-checksum-sha256", sha256)).map(\.claimant) == [
                .amazonSHA256
            ])
        let stored = ("x-goog-stored-content-encoding", "gzip")
        #expect(claims(200, ("x-goog-hash", "md5=\(md5)"), stored).isEmpty)
        #expect(claims(200, ("x-goog-hash", "md5=\(md5)"), stored, ("Content-Encoding", "gzip")).count == 1)
        for value in ["md5", "md5=", "md5=x", "md5=\(Self.base64(4, 15))", "=\(md5)", ",,", "md5 = \(md5)x"] {
            #expect(claims(200, ("x-goog-hash", value), ("Digest", value)).isEmpty, "\(value)")
        }
    }

    @Test func ignoresMalformedDigests() {
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
}
