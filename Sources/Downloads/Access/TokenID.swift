import Formats

/// A token's identifier: `tok_` and a ULID. It is not secret.
public struct TokenID: Sendable, Hashable, CustomStringConvertible {
    public let text: String
    public init(_ text: String) { self.text = text }
    public static func make(_ ulid: ULID) -> TokenID { TokenID("tok_\(ulid)") }
    public var description: String { text }
}
