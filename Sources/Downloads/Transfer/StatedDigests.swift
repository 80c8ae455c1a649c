import HTTPSemantics

/// The digests that servers of a job have stated for a version of its file. They hold for the whole job: across attempts, restarts of
/// the service and mirrors, also after the bytes that came with them are gone, until a response shows that another version has begun.
public struct StatedDigests: Sendable, Equatable, Codable {
    /// Those of the first response that stated a digest.
    public var validators: Validators
    /// The number of bytes of the representation; nil if no response stated it.
    public var size: Int64?
    public var digests: [DigestClaim]

    public init(_ digests: [DigestClaim], validators: Validators, size: Int64?) {
        self.validators = validators
        self.size = size
        // What a list says is read again by each attempt.
        self.digests = digests.filter { $0.claimant != .checksumFile }
    }

    /// Whether nothing shows that a response has another version of the file: another coding, tag or size, or, if one of
    /// them has no tag, another date.
    public func holds(for validators: Validators, size: Int64?) -> Bool {
        guard validators.isEncoded == self.validators.isEncoded else { return false }
        if let stated = self.size, let size, stated != size { return false }
        if let stated = self.validators.etag, let etag = validators.etag { return stated == etag }
        guard let stated = self.validators.lastModified, let date = validators.lastModified else { return true }
        return stated == date
    }
}

extension StatedDigests? {
    /// What is known after a response, or after bytes of one were stored; nil without a digest. Two digests that contradict each other
    /// are both kept, because no bytes match both.
    public func after(_ seen: StatedDigests) -> StatedDigests? {
        guard var known = self, known.holds(for: seen.validators, size: seen.size) else {
            return seen.digests.isEmpty ? nil : seen
        }
        known.digests += seen.digests.filter { !known.digests.contains($0) }
        known.size = known.size ?? seen.size
        return known
    }
}

extension FileLabel {
    /// This label of a response, with the digests that servers of the job have stated for the same version.
    public func completed(by stated: StatedDigests?, validators: Validators, size: Int64?) -> FileLabel {
        guard let stated, stated.holds(for: validators, size: size) else { return self }
        var label = self
        label.digests += stated.digests.filter { !digests.contains($0) }
        return label
    }
}
