import Foundation

extension [UInt8] {
    /// Reads base64 as in HTTP headers (RFC 4648, section 4: the alphabet with `+` and `/`). Padding may be missing,
    /// but must not be wrong. nil for any other text.
    ///
    /// Foundation alone would treat padding as data.
    public init?(base64 text: some StringProtocol) {
        let digits = text.utf8.prefix { $0 != UInt8(ascii: "=") }
        let padding = text.utf8.dropFirst(digits.count)
        guard padding.allSatisfy({ $0 == UInt8(ascii: "=") }), padding.count <= 2,
            padding.isEmpty || text.utf8.count % 4 == 0
        else { return nil }
        let missing = String(repeating: "=", count: (4 - digits.count % 4) % 4)
        guard let data = Data(base64Encoded: String(decoding: digits, as: UTF8.self) + missing) else { return nil }
        self.init(data)
    }

    /// Makes bytes for keys and secrets with the random number generator of the system (getrandom(2)).
    public static func random(count: Int) -> [UInt8] {
        var random = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }
}

extension Sequence<UInt8> {
    /// Two lowercase digits for each byte.
    public var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}

/// The classes of ASCII characters. Names and identifiers are compared by bytes, because a character of Swift can consist of
/// an ASCII byte and a combining mark.
extension UInt8 {
    @inlinable public var isASCIIDigit: Bool { 0x30...0x39 ~= self }

    /// Whether the byte is one of `a-z`, `A-Z` and `0-9`.
    @inlinable public var isASCIIAlphanumeric: Bool { isASCIIDigit || 0x61...0x7A ~= self | 0x20 }

    @inlinable public var isHexadecimalDigit: Bool { isASCIIDigit || 0x61...0x66 ~= self | 0x20 }

    /// Whether the byte may be part of a `token` (RFC 9110, section 5.6.2), such as a method or the name of a field.
    @inlinable public var isHTTPTokenCharacter: Bool { isASCIIAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(self) }

    /// The value of a hexadecimal digit; nil for any other byte.
    public var hexadecimalValue: UInt8? {
        guard isHexadecimalDigit else { return nil }
        return isASCIIDigit ? self - UInt8(ascii: "0") : (self | 0x20) - UInt8(ascii: "a") + 10
    }
}
