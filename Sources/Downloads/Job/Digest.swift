/// Whether the file's sha-256 is computed for its receipt.
public enum Digest: String, Sendable, Codable, CaseIterable {
    case sha256 = "sha-256"
    case none
}
