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
    @inlinable public var hexadecimal: String {
        var text: [UInt8] = []
        for byte in self {
            for digit in [byte >> 4, byte & 15] { text.append(digit < 10 ? 0x30 + digit : 0x57 + digit) }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// The classes of ASCII characters. Names and identifiers are compared by bytes, because a character of Swift can consist of
/// an ASCII byte and a combining mark.
extension UInt8 {
    @inlinable public var isASCIIDigit: Bool { 0x30...0x39 ~= self }

    @inlinable public var isASCIIAlphanumeric: Bool { isASCIIDigit || 0x61...0x7A ~= self | 0x20 }

    @inlinable public var isHexadecimalDigit: Bool { isASCIIDigit || 0x61...0x66 ~= self | 0x20 }

    /// Whether the byte may be part of a `token` (RFC 9110, section 5.6.2), such as a method or the name of a field.
    @inlinable public var isHTTPTokenCharacter: Bool { isASCIIAlphanumeric || "!#$%&'*+-.^_`|~".utf8.contains(self) }

    /// The value of a hexadecimal digit; nil for any other byte.
    public var hexadecimalValue: UInt8? {
        guard isHexadecimalDigit else { return nil }
        return isASCIIDigit ? self - UInt8(ascii: "0") : (self | 0x20) - UInt8(ascii: "a") + 10
    }

    @inlinable public var asciiLowercased: UInt8 { 0x41...0x5A ~= self ? self | 0x20 : self }

    /// Whether the byte is white space in a field (RFC 9110, section 5.6.3).
    @inlinable public var isHTTPSpace: Bool { self == 0x20 || self == 0x09 }
}

extension Character {
    public var isHTTPSpace: Bool { self == " " || self == "\t" }
}

extension BidirectionalCollection {
    /// Without those elements at both ends that meet the condition.
    @inlinable public func trimming(_ isTrimmed: (Element) -> Bool) -> SubSequence {
        let rest = drop(while: isTrimmed)
        guard let last = rest.lastIndex(where: { !isTrimmed($0) }) else { return rest }
        return rest[...last]
    }
}

extension String {
    /// Reads ISO 8859-1, whose bytes are the first Unicode scalars.
    public init(latin1 bytes: some Sequence<UInt8>) { self.init(UnicodeScalarView(bytes.map(Unicode.Scalar.init))) }
}

extension StringProtocol {
    /// Without white space of a field at both ends. That of Foundation makes an `NSString`, and takes ten times as long.
    public var trimmingHTTPSpace: String { String(Substring(Substring(self).utf8.trimming(\.isHTTPSpace))) }
}

/// Names of header fields are ASCII, and are compared by bytes, without a locale.
extension StringProtocol {
    @inlinable public func equalsIgnoringASCIICase(_ other: some StringProtocol) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }
}

/// Extends `Array` and not `Sequence`: every response is read with these functions, and generic ones are ten times slower in
/// other modules.
extension [(name: String, value: String)] {
    /// Every value of a header field, in order. The case of the name does not matter.
    public func values(of name: String) -> [String] {
        filter { $0.name.equalsIgnoringASCIICase(name) }.map { $0.value }
    }

    public func value(of name: String) -> String? { first { $0.name.equalsIgnoringASCIICase(name) }?.value }
}

extension BinaryInteger {
    /// The digits of a number that is not negative, with zeros before them.
    public func digits(_ count: Int, radix: Int = 10) -> String {
        let text = String(self, radix: radix)
        return String(repeating: "0", count: Swift.max(0, count - text.utf8.count)) + text
    }
}
