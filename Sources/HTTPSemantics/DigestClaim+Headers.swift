import Formats
import Foundation

/// The digests of the file that a response states. If the content is coded, both the digests and the stored bytes are
/// of the coded form. Malformed fields are ignored.
extension DigestClaim {
    /// - Parameter status: `Content-Digest` is a digest of the file only if the content is the whole file.
    ///   `Repr-Digest` is always a digest of the file, also in a 206 (RFC 9530, sections 2 and 3).
    static func claims(ofStatus status: Int, _ headers: [(name: String, value: String)]) -> [DigestClaim] {
        func lines(_ name: String) -> [String] {
            headers.filter { $0.name.utf8.count == name.utf8.count && $0.name.lowercased() == name }.map(\.value)
        }
        switch status {
        case 200...203:
            return claims(.reprDigest, lines("repr-digest")) + claims(.contentDigest, lines("content-digest"))
                + contentMD5(lines("content-md5"))
        case 206: return claims(.reprDigest, lines("repr-digest"))
        default: return []
        }
    }

    /// Reads all known algorithms, including weak ones: the digests detect damage, and do not prove who made the file.
    /// The strongest comes first, because a failure reports the first digest that does not match.
    private static func claims(_ claimant: Claimant, _ lines: [String]) -> [DigestClaim] {
        guard !lines.isEmpty, let dictionary = StructuredDictionary(lines) else { return [] }
        return registered.compactMap { name, algorithm in
            dictionary.byteSequences[name].flatMap { Checksum(algorithm, bytes: $0) }.map { DigestClaim(claimant, $0) }
        }
    }

    /// The registered names of the algorithms (RFC 9530, section 7.2: Hash Algorithms for HTTP Digest Fields).
    private static let registered: [(name: String, algorithm: Checksum.Algorithm)] = [
        ("sha-512", .sha512), ("sha-256", .sha256), ("sha", .sha1), ("md5", .md5),
    ]

    /// `Content-MD5` (RFC 1864). In HTTP, it is a digest of the coded content (RFC 2616, section 14.15). More than one
    /// line is invalid.
    private static func contentMD5(_ lines: [String]) -> [DigestClaim] {
        guard lines.count == 1, let bytes = [UInt8](base64: lines[0].trimmingCharacters(in: .whitespaces)),
            let checksum = Checksum(.md5, bytes: bytes)
        else { return [] }
        return [DigestClaim(.contentMD5, checksum)]
    }
}
