/// A session's or webhook's name: 1 to 128 of `A-Z a-z 0-9 . _ -`, not `.` or `..`.
public struct Name: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    public init?(_ text: String) {
        guard (1...128).contains(text.utf8.count), text != ".", text != "..",
            text.utf8.allSatisfy(Self.isAllowed)
        else { return nil }
        self.text = text
    }

    /// For a name that was validated before it was stored.
    public init(trusted text: String) { self.text = text }

    public static let `default` = Name(trusted: "default")
    public var description: String { text }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
