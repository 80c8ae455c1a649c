/// Whether fetchd computes the SHA-256 digest of the file for its receipt.
public enum Digest: String, Sendable, Codable, CaseIterable {
    case sha256 = "sha-256"
    case none
}
