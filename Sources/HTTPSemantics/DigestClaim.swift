/// A digest of the file that a client or a server has stated. Bytes with another digest never become the file.
public struct DigestClaim: Sendable, Hashable, Codable {
    public var claimant: Claimant
    public var checksum: Checksum

    public enum Claimant: String, Sendable, Codable {
        /// The client that submitted the job.
        case client = "job"
        case reprDigest = "Repr-Digest"
        case contentDigest = "Content-Digest"
        case contentMD5 = "Content-MD5"
    }

    public init(_ claimant: Claimant, _ checksum: Checksum) {
        self.claimant = claimant
        self.checksum = checksum
    }
}
