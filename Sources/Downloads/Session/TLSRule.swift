/// Whom the transfers of a session believe.
public struct TLSRule: Sendable, Equatable, Codable {
    /// A PEM file with the certificates to trust instead of the system's, as fetchd sees the file system.
    public var caFile: String?
    /// By host: SHA-256 digests, in base64, of the public keys (SubjectPublicKeyInfo) of which one must be the server's.
    public var pinnedPublicKeys: [String: [String]]
    /// false accepts any certificate. fetchd logs a warning each time a session is declared with it.
    public var verify: Bool

    public init(caFile: String? = nil, pinnedPublicKeys: [String: [String]] = [:], verify: Bool = true) {
        self.caFile = caFile
        self.pinnedPublicKeys = pinnedPublicKeys
        self.verify = verify
    }
}
