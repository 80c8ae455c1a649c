/// Somebody's word on what the bytes of a file hash to. Bytes that do not bear it out never become the file.
public struct DigestClaim: Sendable, Hashable, Codable {
    public var claimant: Claimant
    public var checksum: Checksum

    public enum Claimant: String, Sendable, Codable {
        /// The client's `checksum`.
        case job
        case reprDigest = "Repr-Digest"
        case contentDigest = "Content-Digest"
        case contentMD5 = "Content-MD5"

        fileprivate var name: String {
            switch self {
            case .job: "the job's checksum"
            case .reprDigest, .contentDigest, .contentMD5: "the server's \(rawValue)"
            }
        }
    }

    public init(_ claimant: Claimant, _ checksum: Checksum) {
        self.claimant = claimant
        self.checksum = checksum
    }

    /// - Parameter digests: of the whole file, lowercase hexadecimal.
    /// - Returns: what is wrong; nil where the bytes bear the claim out.
    public func refutation(by digests: [Checksum.Algorithm: String]) -> Failure? {
        let found = digests[checksum.algorithm]
        guard found != checksum.value else { return nil }
        let algorithm = checksum.algorithm.rawValue
        return Failure(
            .checksumMismatch,
            "The \(algorithm) of the bytes is \(found ?? "unknown"); \(claimant.name) says \(checksum.value).")
    }
}

extension [DigestClaim] {
    /// The first that the bytes do not bear out.
    public func refutation(by digests: [Checksum.Algorithm: String]) -> Failure? {
        lazy.compactMap { $0.refutation(by: digests) }.first
    }
}
