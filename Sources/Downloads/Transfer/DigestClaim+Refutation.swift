import HTTPSemantics

extension DigestClaim {
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

extension DigestClaim.Claimant {
    fileprivate var name: String {
        switch self {
        case .client: "the job's checksum"
        case .reprDigest, .contentDigest, .contentMD5: "the server's \(rawValue)"
        }
    }
}
