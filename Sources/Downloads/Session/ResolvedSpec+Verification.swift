import HTTPSemantics

/// What a file has to be, and what follows from that for bytes that cannot be told by a validator.
extension ResolvedSpec {
    /// Whether the next attempt may go on from bytes with these validators: where they vouch for themselves, or where the
    /// whole will be compared with the job's checksum. What answers another method than GET is no file with ranges
    /// (RFC 9110, section 14.2), and another response may be coded otherwise.
    public func canContinue(_ validators: Validators) -> Bool {
        method == .get && (validators.strong != nil || restsOnChecksum && !validators.isEncoded)
    }

    /// All that the bytes have to bear out.
    public func claims(_ label: FileLabel) -> [DigestClaim] {
        (checksum.map { [DigestClaim(.client, $0)] } ?? []) + label.digests
    }

    /// What has to be computed of the bytes: for the receipt, and to verify them.
    public func algorithms(_ label: FileLabel) -> Set<Checksum.Algorithm> {
        Set(claims(label).map(\.checksum.algorithm)).union(digest == .sha256 ? [.sha256] : [])
    }
}
