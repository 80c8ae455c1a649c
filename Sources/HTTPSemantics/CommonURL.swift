import Formats

/// The parts of a URL in the form that nearly all have: `http` or `https`, a host of at most 63 letters, digits, dots and
/// hyphens, and a path and a query without a fragment. `URLComponents` takes microseconds for a URL, and a request can have 10,000.
///
/// Every such URL is valid by RFC 3986, and these are the parts that `URLComponents` finds.
struct CommonURL {
    let host: String
    let port: Int?
    let isSecure: Bool

    /// nil for every other form, valid or not.
    init?(_ text: String) {
        guard let parts = text.utf8.withContiguousStorageIfAvailable(Self.parts) ?? nil else { return nil }
        self = parts
    }

    private init(host: String, port: Int?, isSecure: Bool) {
        (self.host, self.port, self.isSecure) = (host, port, isSecure)
    }

    private static func parts(_ text: UnsafeBufferPointer<UInt8>) -> CommonURL? {
        let isSecure = text.starts(with: "https://".utf8)
        guard isSecure || text.starts(with: "http://".utf8) else { return nil }
        let start = isSecure ? 8 : 7
        let host = text[start...].prefix(while: isHostByte)
        guard isHost(host) else { return nil }
        var (rest, port) = (text[host.endIndex...], Int?.none)
        if rest.first == UInt8(ascii: ":") {
            let digits = rest.dropFirst().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard (1...5).contains(digits.count) else { return nil }
            port = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
            rest = text[digits.endIndex...]
        }
        guard rest.isEmpty || rest.first == UInt8(ascii: "/") || rest.first == UInt8(ascii: "?"), isPathAndQuery(rest)
        else { return nil }
        return CommonURL(host: String(decoding: host, as: UTF8.self), port: port, isSecure: isSecure)
    }

    /// Whether this is a short name without empty labels, or an IPv4 address. `URLComponents` decodes Punycode, which has
    /// two hyphens.
    private static func isHost(_ host: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        let (dot, hyphen) = (UInt8(ascii: "."), UInt8(ascii: "-"))
        guard (1...63).contains(host.count), host.first != dot, host.last != dot else { return false }
        return !zip(host, host.dropFirst()).contains { $0 == $1 && ($0 == dot || $0 == hyphen) }
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        isLetterOrDigit(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
    }

    private static func isPathAndQuery(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var index = text.startIndex
        while index < text.endIndex {
            if text[index] == UInt8(ascii: "%") {
                guard index + 2 < text.endIndex, text[index + 1].hexadecimalValue != nil,
                    text[index + 2].hexadecimalValue != nil
                else { return false }
                index += 3
            } else {
                guard isLetterOrDigit(text[index]) || isPathPunctuation(text[index]) else { return false }
                index += 1
            }
        }
        return true
    }

    /// `pchar` without letters, digits and `%`, and `/` and `?` (RFC 3986, sections 3.3 and 3.4).
    private static func isPathPunctuation(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "!"),
            UInt8(ascii: "$"), UInt8(ascii: "&")...UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="),
            UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "/"), UInt8(ascii: "?"):
            true
        default: false
        }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}
