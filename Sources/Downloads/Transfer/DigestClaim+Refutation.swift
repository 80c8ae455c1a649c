import HTTPSemantics

extension DigestClaim {
    /// - Parameter digests: the digests of the whole file, in lowercase hexadecimal.
    /// - Returns: the failure; nil if the bytes match the claim.
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
    /// The failure of the first claim that the bytes do not match; nil if they match all claims.
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
