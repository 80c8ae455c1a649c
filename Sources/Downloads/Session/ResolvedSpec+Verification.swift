import HTTPSemantics

/// The digests that a file must match, and the conditions for continuing its bytes.
extension ResolvedSpec {
    /// Whether the next attempt may continue bytes with these validators: if they are strong, or if the job's checksum
    /// verifies the whole file. Only GET defines ranges (RFC 9110, section 14.2). Coded bytes are not continued,
    /// because another response may have another coding.
    public func canContinue(_ validators: Validators) -> Bool {
        method == .get && (validators.strong != nil || restsOnChecksum && !validators.isEncoded)
    }

    /// All digests that the bytes must match.
    public func claims(_ label: FileLabel) -> [DigestClaim] {
        (checksum.map { [DigestClaim(.client, $0)] } ?? []) + label.digests
    }

    /// The digests that fetchd computes: for the receipt, and to verify the bytes.
    public func algorithms(_ label: FileLabel) -> Set<Checksum.Algorithm> {
        Set(claims(label).map(\.checksum.algorithm)).union(digest == .sha256 ? [.sha256] : [])
    }
}
