import Foundation

/// The host of a URL in the ASCII form that DNS uses (RFC 5891): `bücher.example` is `xn--bcher-kva.example`.
extension String {
    /// The host of this URL, without user and port; nil for a URL without an authority (RFC 3986, section 3.2).
    public var hostRange: Range<Index>? {
        // Compares bytes, because a combining mark after a slash makes another character of it.
        guard let colon = utf8.firstIndex(of: UInt8(ascii: ":")), utf8[colon...].starts(with: "://".utf8) else {
            return nil
        }
        let start = utf8.index(colon, offsetBy: 3)
        let end = utf8[start...].firstIndex { "/?#".utf8.contains($0) } ?? utf8.endIndex
        let host = utf8[start..<end].lastIndex(of: UInt8(ascii: "@")).map { utf8.index(after: $0) } ?? start
        if host < end, utf8[host] == UInt8(ascii: "[") {
            let bracket = utf8[host..<end].firstIndex(of: UInt8(ascii: "]"))
            return host..<(bracket.map { utf8.index(after: $0) } ?? end)
        }
        return host..<(utf8[host..<end].firstIndex(of: UInt8(ascii: ":")) ?? end)
    }

    /// The last component of the path of this URL, decoded; nil for a URL without a path. (Foundation would encode the percent
    /// signs of a path that also has raw characters.)
    public var lastURLComponent: String? {
        let end = utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? endIndex
        let (host, path) = (hostRange, utf8[(hostRange?.upperBound ?? startIndex)..<end])
        // A URL without an authority can have a path without a slash: `rehearse:film.mkv`.
        let separator =
            path.lastIndex(of: UInt8(ascii: "/")) ?? (host == nil ? path.firstIndex(of: UInt8(ascii: ":")) : nil)
        guard let separator else { return nil }
        let component = self[utf8.index(after: separator)..<end]
        return component.percentDecoded ?? String(component)
    }

    /// This URL with its host in ASCII and without percent-encoding. Everything else stays as it is, and so does a URL
    /// without an authority. nil if the host can be neither a name nor an address.
    public var withASCIIHost: String? {
        guard let range = hostRange else { return self }
        let host = self[range]
        guard host.utf8.first != UInt8(ascii: "[") else { return self }
        guard let decoded = host.percentDecoded, let name = decoded.asciiName, name.isHostName else { return nil }
        if decoded == name && decoded == host { return self }
        // Foundation would replace whole characters, and so also an "@" that a combining mark follows.
        return String(self[..<range.lowerBound]) + name + String(self[range.upperBound...])
    }

    /// This name in ASCII, with compatible characters and upper case mapped as browsers do (UTS 46); nil if it cannot
    /// be converted.
    private var asciiName: String? {
        if utf8.allSatisfy({ $0 < 0x80 }) { return self }
        // The characters that end a host must not be in its name, before and after the conversion.
        guard utf8.allSatisfy({ $0 >= 0x80 || $0.isHostCharacter }) else { return nil }
        return URLComponents(string: "http://\(self)/")?.encodedHost
    }

    /// Whether this can be the name of a host: at most 253 characters in labels of 1 to 63 (RFC 1035, section 2.3.4),
    /// each a letter, a digit, or another character that resolvers and libcurl accept.
    private var isHostName: Bool {
        let name = last == "." ? dropLast() : self[...]
        let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return (1...253).contains(name.utf8.count)
            && labels.allSatisfy { (1...63).contains($0.count) && $0.allSatisfy(\.isHostCharacter) }
    }
}

extension UInt8 {
    fileprivate var isHostCharacter: Bool { isASCIIAlphanumeric || "-._~+".utf8.contains(self) }
}

/// Percent-encoding of URLs (RFC 3986, section 2.1).
extension StringProtocol {
    /// The text without percent-encoding; nil if an encoding is malformed or the result is not UTF-8.
    public var percentDecoded: String? {
        guard utf8.contains(UInt8(ascii: "%")) else { return String(self) }
        return percentDecodedBytes.flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// nil if an encoding is malformed.
    public var percentDecodedBytes: [UInt8]? {
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
        return decoded
    }
}
