extension TransferRequest {
    /// Whom an `https` transfer trusts. A connection is reused only by transfers that would have made the same one.
    public struct TLSOptions: Sendable, Equatable {
        /// A PEM file of certificates to trust *instead of* the system's (`CURLOPT_CAINFO`, no `CURLOPT_CAPATH`). What is
        /// in it may be remembered for a minute. nil trusts what the system trusts.
        public var caFile: String?

        /// The server's public key must be one of these: base64 of the SHA-256 of its SubjectPublicKeyInfo (RFC 7469,
        /// 2.4), alone or as libcurl writes it, `sha256//...`. Empty admits any. Also asked for when `verifies` is off.
        public var pinnedPublicKeys: [String]

        /// Whether the certificate must be valid, for this host, and issued by somebody trusted. Off, anybody on the way
        /// can read and change what is transferred, unless keys are pinned.
        public var verifies: Bool

        public init(caFile: String? = nil, pinnedPublicKeys: [String] = [], verifies: Bool = true) {
            self.caFile = caFile
            self.pinnedPublicKeys = pinnedPublicKeys
            self.verifies = verifies
        }
    }
}

extension TransferRequest.TLSOptions {
    private static let prefix = "sha256//"

    /// `CURLOPT_PINNEDPUBLICKEY`; nil when none is pinned.
    var pins: String? {
        guard !pinnedPublicKeys.isEmpty else { return nil }
        return pinnedPublicKeys.map { $0.hasPrefix(Self.prefix) ? $0 : Self.prefix + $0 }.joined(separator: ";")
    }

    func validate() throws(TransferError) {
        if let caFile, caFile.isEmpty || caFile.utf8.contains(0) { throw .tlsFailed("the CA file has no name") }
        // libcurl takes what is no hash for the name of a file with the key.
        guard pinnedPublicKeys.allSatisfy(Self.isHash) else {
            throw .tlsFailed("a pinned public key is not the base64 of a SHA-256 (44 characters)")
        }
    }

    /// 32 bytes in base64: 43 characters and one `=`.
    private static func isHash(_ pin: String) -> Bool {
        let text = (pin.hasPrefix(prefix) ? pin.dropFirst(prefix.count) : pin[...]).utf8
        return text.count == 44 && text.last == UInt8(ascii: "=") && text.dropLast().allSatisfy(\.isBase64Character)
    }
}

extension UInt8 {
    fileprivate var isBase64Character: Bool {
        switch asciiLowercased {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"),
            UInt8(ascii: "/"):
            true
        default:
            false
        }
    }
}
