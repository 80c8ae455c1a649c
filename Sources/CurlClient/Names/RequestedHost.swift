import Glibc

/// The host of a URL, in the form in which rules compare it.
enum RequestedHost: Equatable {
    case address(IPAddress)
    /// Lowercase, without dots at its end.
    case name(String)

    /// - Parameter text: the host as libcurl parses it: without escapes. An IPv6 address may have brackets and a zone.
    init(_ text: String) {
        let host = text.drop { $0 == "[" }.prefix { $0 != "]" && $0 != "%" }
        let name = String(decoding: host.utf8.map(\.asciiLowercased), as: UTF8.self).droppingDotsAtEnd
        if let address = IPAddress(name) ?? Self.legacyIPv4(name) {
            self = .address(address)
        } else {
            self = .name(name)
        }
    }

    /// Whether resolvers map the name to the loopback (RFC 6761, 6.3).
    var isLoopbackName: Bool {
        guard case .name(let name) = self else { return false }
        return name == "localhost" || name.hasSuffix(".localhost")
    }

    /// The forms that inet_aton(3) accepts, as getaddrinfo(3) and libcurl do: `127.1`, `0x7f.1`, `0177.0.0.1`,
    /// `2130706433`.
    private static func legacyIPv4(_ text: String) -> IPAddress? {
        var address = in_addr()
        // It ignores everything after a space.
        guard !text.utf8.contains(where: { $0 <= 0x20 }), inet_aton(text, &address) != 0 else { return nil }
        return withUnsafeBytes(of: address.s_addr) { IPAddress(bytes: Array($0)) }
    }
}

extension String {
    fileprivate var droppingDotsAtEnd: String {
        var text = self[...]
        while text.utf8.last == UInt8(ascii: ".") { text = text.dropLast() }
        return String(text)
    }
}
