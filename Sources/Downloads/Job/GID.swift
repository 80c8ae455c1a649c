import Formats

/// The identifier of a job in aria2's RPC: 64 bits, written as 16 hexadecimal digits.
public struct GID: Sendable, Hashable, CustomStringConvertible {
    public let number: UInt64

    /// - Parameter number: not 0, which aria2 uses for "no download".
    public init(_ number: UInt64) { self.number = max(1, number) }

    /// - Parameter text: 16 hexadecimal digits, in capitals or not.
    /// - Returns: nil for any other text, and for 0.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == Self.digits, text.utf8.allSatisfy(\.isHexadecimalDigit),
            let number = UInt64(text, radix: 16), number > 0
        else { return nil }
        self.number = number
    }

    public static func random() -> GID { GID(.random(in: 1 ... .max)) }

    /// The identifier of a job that has no stored one: a hash of its identifier, so that it never changes.
    public init(of job: JobID) {
        // FNV-1a.
        let hash = job.text.utf8.reduce(into: 0xCBF2_9CE4_8422_2325 as UInt64) { hash, byte in
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3
        }
        // The first digits, which clients show, need the bits of all bytes, as in the finalizer of SplitMix64.
        let mixed = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        self.init(mixed ^ (mixed >> 31))
    }

    public var description: String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: Self.digits - text.utf8.count) + text
    }

    public static let digits = 16
}

/// The first digits of a `GID`, as clients may send them in place of all 16. Fewer than 16 digits name a job if no other
/// job of the session begins with them.
public struct GIDPrefix: Sendable, Hashable, CustomStringConvertible {
    /// 1 to 16 hexadecimal digits in lower case.
    public let text: String

    public init?(_ text: String) {
        guard (1...GID.digits).contains(text.utf8.count), text.utf8.allSatisfy(\.isHexadecimalDigit) else { return nil }
        self.text = text.lowercased()
    }

    public func matches(_ gid: GID) -> Bool { gid.description.hasPrefix(text) }

    /// The whole identifier; nil if digits are missing.
    public var gid: GID? { GID(text) }

    /// Above every identifier with this prefix, in the order of the texts.
    public var end: String { text + "g" }

    public var description: String { text }
}
