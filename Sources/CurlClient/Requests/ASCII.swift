/// Comparisons and character classes for HTTP field names. They work on bytes, because field names are ASCII and have
/// no locale.
extension String {
    func equalsIgnoringASCIICase(_ other: String) -> Bool {
        utf8.elementsEqual(other.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }

    /// Whether the text is a `token` of RFC 9110. A method and a field name must be one.
    var isHTTPToken: Bool {
        !utf8.isEmpty && utf8.allSatisfy(\.isHTTPTokenCharacter)
    }

    /// Whether the text would end a line, or a C string.
    var breaksLine: Bool {
        utf8.contains { $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n") || $0 == 0 }
    }

    var hasControlCharacter: Bool {
        utf8.contains { $0 < 0x20 || $0 == 0x7F }
    }
}

extension UInt8 {
    var asciiLowercased: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }

    var isHTTPSpace: Bool {
        self == UInt8(ascii: " ") || self == UInt8(ascii: "\t")
    }

    fileprivate var isHTTPTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default:
            "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}
