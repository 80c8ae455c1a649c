/// The first digits of a `GID`, as clients may send them in place of all 16. Fewer than 16 digits name a job if no other
/// job of the session begins with them.
public struct GIDPrefix: Sendable, Hashable, CustomStringConvertible {
    /// 1 to 16 hexadecimal digits in lower case.
    public let text: String

    /// nil for any other text.
    public init?(_ text: String) {
        guard (1...GID.digits).contains(text.utf8.count), GID.areDigits(text) else { return nil }
        self.text = text.lowercased()
    }

    public func matches(_ gid: GID) -> Bool { gid.description.hasPrefix(text) }

    /// The whole identifier; nil if digits are missing.
    public var gid: GID? { GID(text) }

    /// Above every identifier with this prefix, in the order of the texts.
    public var end: String { text + "g" }

    public var description: String { text }
}
