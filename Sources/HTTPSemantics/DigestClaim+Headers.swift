import Formats
import Foundation

/// What a response says that its file hashes to. A content coding counts: both the claims and the bytes kept are of the
/// coded form. What is malformed says nothing.
extension DigestClaim {
    /// - Parameter status: a digest of the content is one of the file only where the content is the whole file; that of the
    ///   representation is, in a 206, too (RFC 9530, sections 2 and 3).
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

    /// Every algorithm that is known, the weaker ones, too: they are not to prove who made the file, but to find out what
    /// was damaged. The strongest first: where several are refuted, the message is about that one.
    private static func claims(_ claimant: Claimant, _ lines: [String]) -> [DigestClaim] {
        guard !lines.isEmpty, let dictionary = StructuredDictionary(lines) else { return [] }
        return registered.compactMap { name, algorithm in
            dictionary.byteSequences[name].flatMap { Checksum(algorithm, bytes: $0) }.map { DigestClaim(claimant, $0) }
        }
    }

    /// Names of the Hash Algorithms for HTTP Digest Fields (RFC 9530, section 7.2).
    private static let registered: [(name: String, algorithm: Checksum.Algorithm)] = [
        ("sha-512", .sha512), ("sha-256", .sha256), ("sha", .sha1), ("md5", .md5),
    ]

    /// RFC 1864; in HTTP of the content as it is coded (RFC 2616, section 14.15). Two lines are one too many.
    private static func contentMD5(_ lines: [String]) -> [DigestClaim] {
        guard lines.count == 1, let bytes = [UInt8](base64: lines[0].trimmingCharacters(in: .whitespaces)),
            let checksum = Checksum(.md5, bytes: bytes)
        else { return [] }
        return [DigestClaim(.contentMD5, checksum)]
    }
}
