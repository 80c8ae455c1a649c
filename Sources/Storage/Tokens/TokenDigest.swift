/// The SHA-256 of a token's secret.
public struct TokenDigest: Sendable, Hashable {
    /// 32 bytes.
    public let bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }
}
