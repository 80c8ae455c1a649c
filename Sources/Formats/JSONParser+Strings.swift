/// Strings (RFC 8259, section 7).
extension JSONParser {
    mutating func string() throws(JSONFault) -> String {
        position += 1
        var content: [UInt8] = []
        while true {
            let start = position
            while let byte = peek, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
                position += 1
            }
            switch peek {
            case UInt8(ascii: "\"") where content.isEmpty:
                position += 1
                return try text(bytes[start..<position - 1])
            case UInt8(ascii: "\""):
                position += 1
                return try text(content[...] + bytes[start..<position - 1])
            case UInt8(ascii: "\\"):
                content += bytes[start..<position]
                try escape(into: &content)
            case nil: throw fault("The text ends inside a string")
            default: throw fault("A control character in a string has to be escaped")
            }
        }
    }

    private func text(_ content: ArraySlice<UInt8>) throws(JSONFault) -> String {
        guard let text = String(validating: content, as: UTF8.self) else { throw fault("The string is not UTF-8") }
        return text
    }

    private mutating func escape(into content: inout [UInt8]) throws(JSONFault) {
        position += 1
        let escaped = peek
        position += 1
        switch escaped {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(escaped ?? 0)
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "f"): content.append(0x0C)
        case UInt8(ascii: "n"): content.append(0x0A)
        case UInt8(ascii: "r"): content.append(0x0D)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "u"): content += String(try scalar()).utf8
        default:
            position -= 1
            throw fault("This is not an escape that JSON has")
        }
    }

    /// Reads the digits after `\u`: one code point, or both halves of a surrogate pair.
    private mutating func scalar() throws(JSONFault) -> Unicode.Scalar {
        let first = try codeUnit()
        if let scalar = Unicode.Scalar(UInt32(first)) { return scalar }
        guard UTF16.isLeadSurrogate(first), bytes[position..<max(position, end)].starts(with: #"\u"#.utf8) else {
            throw fault("Half of a surrogate pair stands alone")
        }
        position += 2
        let second = try codeUnit()
        guard UTF16.isTrailSurrogate(second) else { throw fault("Half of a surrogate pair stands alone") }
        let value = 0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00)
        return Unicode.Scalar(value) ?? "\u{FFFD}"
    }

    private mutating func codeUnit() throws(JSONFault) -> UInt16 {
        let last = position + 4
        guard last <= end, bytes[position..<last].allSatisfy(Self.isHexDigit),
            let unit = UInt16(String(decoding: bytes[position..<last], as: UTF8.self), radix: 16)
        else { throw fault("Four hexadecimal digits should be here") }
        position = last
        return unit
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool { Character(Unicode.Scalar(byte)).isHexDigit }
}
