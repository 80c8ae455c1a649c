/// The certificates that the transfers of a session, or the requests to a webhook, accept.
public struct TLSRule: Sendable, Equatable, Codable {
    /// The path of a PEM file, in fetchd's file system. Its certificates are trusted instead of the system's.
    public var caFile: String?
    /// By host: base64 of the SHA-256 digests of public keys (SubjectPublicKeyInfo). One of them must match the
    /// server's key.
    public var pinnedPublicKeys: [String: [String]]
    /// false accepts any certificate. fetchd logs a warning each time a session or webhook is declared with it, and for
    /// each attempt of a job.
    public var verify: Bool

    public init(caFile: String? = nil, pinnedPublicKeys: [String: [String]] = [:], verify: Bool = true) {
        self.caFile = caFile
        self.pinnedPublicKeys = pinnedPublicKeys
        self.verify = verify
    }
}
