/// Percent-encoding of URLs (RFC 3986, section 2.1).
extension StringProtocol {
    /// The text without percent-encoding; nil if an encoding is malformed or the result is not UTF-8.
    public var percentDecoded: String? {
        guard utf8.contains(UInt8(ascii: "%")) else { return String(self) }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(utf8.count)
        var rest = utf8.makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                decoded.append(byte)
                continue
            }
            guard let high = rest.next()?.hexadecimalValue, let low = rest.next()?.hexadecimalValue
            else { return nil }
            decoded.append(high << 4 | low)
        }
        return String(validating: decoded, as: UTF8.self)
    }
}

extension UInt8 {
    /// The value of an ASCII hexadecimal digit; nil for any other byte.
    public var hexadecimalValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
