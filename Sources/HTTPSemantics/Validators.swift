/// What a response says of the representation behind a URL: by it a later response is recognised as more of the same.
public struct Validators: Sendable, Equatable, Codable {
    public var etag: String?
    public var lastModified: String?
    /// Whether the date is precise enough to stand for the bytes: the server's clock was at least a second past it when
    /// it answered (RFC 9110, section 8.8.2.2).
    public var lastModifiedIsStrong: Bool
    /// The body is coded although `identity` was asked for: its bytes are kept as they came, but never continued.
    public var isEncoded: Bool

    public init(
        etag: String? = nil, lastModified: String? = nil, lastModifiedIsStrong: Bool = false, isEncoded: Bool = false
    ) {
        self.etag = etag
        self.lastModified = lastModified
        self.lastModifiedIsStrong = lastModifiedIsStrong
        self.isEncoded = isEncoded
    }

    /// The value for `If-Range`: a strong entity tag, else, only where there is no tag at all, a strong date (RFC 9110,
    /// section 13.1.5). nil: bytes of two responses must not be put together.
    public var strong: String? {
        if isEncoded { return nil }
        if let etag { return Self.isStrong(etag) ? etag : nil }
        return lastModifiedIsStrong ? lastModified : nil
    }

    /// One opaque tag in quotes (RFC 9110, section 8.8.3). Whatever else a server sends, a weak one, an empty one, a list,
    /// a word without quotes, does not tell one version from the next.
    private static func isStrong(_ tag: String) -> Bool {
        let bytes = tag.utf8
        guard bytes.count > 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else { return false }
        return bytes.dropFirst().dropLast().allSatisfy { $0 == 0x21 || $0 >= 0x23 && $0 != 0x7F }
    }
}

extension Validators {
    /// Enough to tell another version apart, and not enough to take it for the same.
    public var withoutStrength: Validators {
        var validators = self
        if strong == etag { validators.etag = nil }
        validators.lastModifiedIsStrong = false
        return validators
    }
}
