extension TransferRequest {
    /// The TLS settings of an `https` transfer. Only transfers with equal settings share a connection.
    public struct TLSOptions: Sendable, Equatable {
        /// A PEM file of certificates to trust *instead of* those of the system (`CURLOPT_CAINFO`, no
        /// `CURLOPT_CAPATH`). Its contents may be cached for a minute. nil trusts the certificates of the system.
        public var caFile: String?

        /// The public key of the server must match one of these: base64 of the SHA-256 of its SubjectPublicKeyInfo (RFC
        /// 7469, 2.4), alone or with the prefix of libcurl, `sha256//...`. Empty accepts any key. Also checked if
        /// `verifies` is false.
        public var pinnedPublicKeys: [String]

        /// Whether the certificate must be valid, match the host, and have a trusted issuer. If false, an attacker on
        /// the path can read and change the data, unless keys are pinned.
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

    /// `CURLOPT_PINNEDPUBLICKEY`; nil if no key is pinned.
    var pins: String? {
        guard !pinnedPublicKeys.isEmpty else { return nil }
        return pinnedPublicKeys.map { $0.hasPrefix(Self.prefix) ? $0 : Self.prefix + $0 }.joined(separator: ";")
    }

    func validate() throws(TransferError) {
        if let caFile, caFile.isEmpty || caFile.utf8.contains(0) { throw .tlsFailed("the CA file has no name") }
        // libcurl would read a value that is not a hash as the path of a key file.
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
