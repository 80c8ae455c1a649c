/// What a response states about the version of the representation. fetchd compares it with later responses, to
/// recognise the same version.
public struct Validators: Sendable, Equatable, Codable {
    public var etag: String?
    public var lastModified: String?
    /// Whether the date is precise enough to identify the bytes: in the response, the server's clock was at least a
    /// second past this date (RFC 9110, section 8.8.2.2).
    public var lastModifiedIsStrong: Bool
    /// The body is coded although fetchd requested `identity`. fetchd stores its bytes as received, but never continues
    /// them.
    public var isEncoded: Bool

    public init(
        etag: String? = nil, lastModified: String? = nil, lastModifiedIsStrong: Bool = false, isEncoded: Bool = false
    ) {
        self.etag = etag
        self.lastModified = lastModified
        self.lastModifiedIsStrong = lastModifiedIsStrong
        self.isEncoded = isEncoded
    }

    /// The value for `If-Range`: a strong entity tag or, only if the response has no entity tag, a strong date (RFC
    /// 9110, section 13.1.5). nil: bytes of two responses must not be combined.
    public var strong: String? {
        if isEncoded { return nil }
        if let etag { return Self.isStrong(etag) ? etag : nil }
        return lastModifiedIsStrong ? lastModified : nil
    }

    /// Whether the tag is one opaque tag in quotes (RFC 9110, section 8.8.3). Any other value (a weak or empty tag, a
    /// list, a word without quotes) does not distinguish one version from the next.
    private static func isStrong(_ tag: String) -> Bool {
        let bytes = tag.utf8
        guard bytes.count > 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else { return false }
        return bytes.dropFirst().dropLast().allSatisfy { $0 == 0x21 || $0 >= 0x23 && $0 != 0x7F }
    }
}

extension Validators {
    /// Validators that can show that a version differs, but cannot prove that it is the same.
    public var withoutStrength: Validators {
        var validators = self
        if strong == etag { validators.etag = nil }
        validators.lastModifiedIsStrong = false
        return validators
    }
}
