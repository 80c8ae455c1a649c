import Formats
import Foundation
import RawStructuredFieldValues

public struct Checksum: Sendable, Hashable, Codable {
    public let algorithm: Algorithm
    /// The digest in lowercase hexadecimal.
    public let value: String

    public enum Algorithm: String, Sendable, CaseIterable, Codable {
        case sha256 = "sha-256"
        case sha512 = "sha-512"
        case sha1 = "sha-1"
        case md5
        /// Only object stores state them.
        case crc32, crc32c, crc64nvme

        /// Those that a client can name.
        public static let allCases: [Algorithm] = [.sha256, .sha512, .sha1, .md5]

        public var size: Int {
            switch self {
            case .sha256: 32
            case .sha512: 64
            case .sha1: 20
            case .md5: 16
            case .crc32, .crc32c: 4
            case .crc64nvme: 8
            }
        }
    }

    /// nil if the number of digits is not that of the algorithm, or if the text is not hexadecimal.
    ///
    /// - Parameter text: in upper or lower case.
    public init?(_ algorithm: Algorithm, hexadecimal text: String) {
        // Checks bytes, because Swift also accepts full-width characters as hexadecimal digits.
        guard text.utf8.count == 2 * algorithm.size, text.utf8.allSatisfy(\.isHexadecimalDigit) else { return nil }
        self.algorithm = algorithm
        value = text.lowercased()
    }

    public init?(_ algorithm: Algorithm, bytes: [UInt8]) {
        guard bytes.count == algorithm.size else { return nil }
        self.algorithm = algorithm
        value = bytes.hexadecimal
    }

    public var bytes: [UInt8] {
        let digits = value.utf8.compactMap(\.hexadecimalValue)
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

/// The digests of the pieces of a file (RFC 5854, section 4.1.3). They show which bytes of a file are wrong.
public struct PieceDigests: Sendable, Hashable, Codable {
    public let algorithm: Checksum.Algorithm
    /// The size of each piece but the last, in bytes; at least 1.
    public let length: Int64
    /// The digests, one after another.
    public let digests: Data

    public static let most = 4096

    /// nil if the digests are not whole ones, or more than ``most``, or none; or if the length is not positive.
    public init?(_ algorithm: Checksum.Algorithm, length: Int64, digests: Data) {
        guard length > 0, !digests.isEmpty, digests.count % algorithm.size == 0,
            digests.count / algorithm.size <= Self.most
        else { return nil }
        self.algorithm = algorithm
        self.length = length
        self.digests = digests
    }

    public var count: Int { digests.count / algorithm.size }

    /// Whether a file of this size, in bytes, has so many pieces.
    public func fit(_ size: Int64) -> Bool { size > 0 && (size - 1) / length == Int64(count - 1) }

    /// - Parameter size: of the file, in bytes, which ``fit(_:)``.
    public func range(of piece: Int, in size: Int64) -> Range<Int64> {
        let start = Int64(piece) * length
        return start..<min(size, start + length)
    }

    public func matches(_ digest: [UInt8], piece: Int) -> Bool {
        let start = digests.startIndex + piece * algorithm.size
        return digests[start..<start + algorithm.size].elementsEqual(digest)
    }
}

/// A digest of the file that a client or a server has stated. Bytes with another digest never become the file.
public struct DigestClaim: Sendable, Hashable, Codable {
    public var claimant: Claimant
    public var checksum: Checksum

    public enum Claimant: String, Sendable, Codable, CaseIterable {
        case client = "job"
        /// A list of digests whose address the client has given.
        case checksumFile = "checksum file"
        /// The digests of all pieces, in a job without a checksum.
        case pieces
        case reprDigest = "Repr-Digest"
        case contentDigest = "Content-Digest"
        case contentMD5 = "Content-MD5"
        /// RFC 3230, which RFC 9530 replaces.
        case digest = "Digest"
        case googleHash = "x-goog-hash"
        case amazonSHA256 = "x-amz-checksum-sha256"
        case amazonSHA1 = "x-amz-checksum-sha1"
        case amazonCRC64 = "x-amz-checksum-crc64nvme"
        case amazonCRC32C = "x-amz-checksum-crc32c"
        case amazonCRC32 = "x-amz-checksum-crc32"
    }

    public init(_ claimant: Claimant, _ checksum: Checksum) {
        self.claimant = claimant
        self.checksum = checksum
    }
}

/// The digests of the file that a response states. If the content is coded, both the digests and the stored bytes are
/// of the coded form. Malformed fields are ignored.
extension DigestClaim {
    /// - Parameter status: `Content-Digest` is a digest of the file only if the content is the whole file.
    ///   `Repr-Digest` is always a digest of the file, also in a 206 (RFC 9530, sections 2 and 3), and so are `Digest` and those of
    ///   object stores.
    static func claims(ofStatus status: Int, _ headers: [(name: String, value: String)]) -> [DigestClaim] {
        guard 200...203 ~= status || status == 206 else { return [] }
        let ofFile = claims(.reprDigest, headers) + instanceDigests(headers) + amazon(headers) + google(headers)
        return status == 206
            ? ofFile : ofFile + claims(.contentDigest, headers) + contentMD5(headers.values(of: "Content-MD5"))
    }

    /// Reads all known algorithms, including weak ones: the digests detect damage, and do not prove who made the file.
    /// The strongest comes first, because a failure reports the first digest that does not match.
    private static func claims(_ claimant: Claimant, _ headers: [(name: String, value: String)]) -> [DigestClaim] {
        let lines = headers.values(of: claimant.rawValue)
        guard !lines.isEmpty, let dictionary = StructuredDictionary(lines) else { return [] }
        return registered.compactMap { name, algorithm in
            dictionary.byteSequences[name].flatMap { Checksum(algorithm, bytes: $0) }.map { DigestClaim(claimant, $0) }
        }
    }

    /// The registered names of the algorithms (RFC 9530, section 7.2: Hash Algorithms for HTTP Digest Fields).
    private static let registered: [(name: String, algorithm: Checksum.Algorithm)] = [
        ("sha-512", .sha512), ("sha-256", .sha256), ("sha", .sha1), ("md5", .md5),
    ]

    /// `Digest` (RFC 3230, section 4.3.2): a list of algorithms and base64, such as `SHA-256=4REj…`. Names have no case.
    private static func instanceDigests(_ headers: [(name: String, value: String)]) -> [DigestClaim] {
        let names: [String: Checksum.Algorithm] = ["sha-512": .sha512, "sha-256": .sha256, "sha": .sha1, "md5": .md5]
        return pairs(headers.values(of: Claimant.digest.rawValue)).compactMap { name, value in
            names[name].flatMap { claim(.digest, $0, value) }
        }
    }

    /// The checksums of S3; a cyclic redundancy check only without a hash. The value of a file that was uploaded in parts is that of the checksums of the parts, and not of the
    /// bytes: it ends with the number of parts, and `x-amz-checksum-type` says `COMPOSITE`.
    private static func amazon(_ headers: [(name: String, value: String)]) -> [DigestClaim] {
        guard headers.value(of: "x-amz-checksum-type")?.lowercased() != "composite" else { return [] }
        let stated = { (fields: [(Claimant, Checksum.Algorithm)]) -> [DigestClaim] in
            fields.compactMap { claimant, algorithm in
                headers.value(of: claimant.rawValue).flatMap { claim(claimant, algorithm, $0) }
            }
        }
        let hashes = stated([(.amazonSHA256, .sha256), (.amazonSHA1, .sha1)])
        guard hashes.isEmpty else { return hashes }
        return Array(stated([(.amazonCRC64, .crc64nvme), (.amazonCRC32C, .crc32c), (.amazonCRC32, .crc32)]).prefix(1))
    }

    /// The MD5 of Google Cloud Storage, or the CRC-32C of an object that was composed of others. It is that of the stored object: a
    /// response that the store has decompressed has other bytes.
    private static func google(_ headers: [(name: String, value: String)]) -> [DigestClaim] {
        let stored = headers.value(of: "x-goog-stored-content-encoding")?.lowercased() ?? "identity"
        guard stored == headers.value(of: "content-encoding")?.lowercased() ?? "identity" else { return [] }
        let hashes = pairs(headers.values(of: Claimant.googleHash.rawValue))
        let md5 = hashes.compactMap { name, value in name == "md5" ? claim(.googleHash, .md5, value) : nil }
        guard md5.isEmpty else { return md5 }
        return hashes.compactMap { name, value in name == "crc32c" ? claim(.googleHash, .crc32c, value) : nil }
    }

    /// The members of lists such as `crc32c=n03x6A==,md5=Ojk9c3dhfxgoKVVHYwFbHQ==`. Names are in lower case.
    private static func pairs(_ lines: [String]) -> [(name: String, value: String)] {
        lines.flatMap { $0.split(separator: ",") }.compactMap { member in
            guard let mark = member.firstIndex(of: "=") else { return nil }
            let name = member[..<mark].trimmingHTTPSpace.lowercased()
            return (name, String(member[member.index(after: mark)...]))
        }
    }

    private static func claim(_ claimant: Claimant, _ algorithm: Checksum.Algorithm, _ base64: String) -> DigestClaim? {
        [UInt8](base64: base64.trimmingHTTPSpace).flatMap { Checksum(algorithm, bytes: $0) }
            .map { DigestClaim(claimant, $0) }
    }

    /// `Content-MD5` (RFC 1864). In HTTP, it is a digest of the coded content (RFC 2616, section 14.15). More than one
    /// line is invalid.
    private static func contentMD5(_ lines: [String]) -> [DigestClaim] {
        lines.count == 1 ? [claim(.contentMD5, .md5, lines[0])].compactMap(\.self) : []
    }
}

/// A structured field that is a dictionary (RFC 9651, section 3.2). Only its byte sequences are kept. The other members
/// must be well-formed too, because one error invalidates the whole field.
struct StructuredDictionary {
    private(set) var byteSequences: [String: [UInt8]] = [:]

    /// In bytes. The parser compares each name with all names before it, so its time grows with the square of the
    /// length. A field with a digest of every registered algorithm has 500 bytes.
    static let longest = 8192

    /// nil if the field is malformed, or longer than ``longest``.
    ///
    /// - Parameter lines: the lines of the field, in order. Together they are one dictionary.
    init?(_ lines: [String]) {
        let text = Array(lines.filter { !$0.allSatisfy(\.isWhitespace) }.joined(separator: ",").utf8)
        guard text.count <= Self.longest else { return nil }
        var parser = StructuredFieldValueParser(text)
        guard let members = try? parser.parseDictionaryFieldValue() else { return nil }
        for (name, member) in members {
            guard case .item(let item) = member, case .undecodedByteSequence(let encoded) = item.rfc9651BareItem else {
                continue
            }
            // The parser checks only the alphabet. Padding may be missing, and its bits have no meaning (section 4.2.7).
            guard let bytes = [UInt8](base64: encoded) else { return nil }
            byteSequences[name] = bytes
        }
    }
}
