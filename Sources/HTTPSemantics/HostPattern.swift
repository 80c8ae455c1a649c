import Formats
import Glibc

/// A rule that selects hosts: a name, all names below a name (`*.example.com`), or an address.
public struct HostPattern: Sendable, Hashable, CustomStringConvertible {
    private enum Form: Hashable {
        case name(String)
        case namesEndingIn(String)
        case address(IPAddress)
    }

    private let form: Form

    /// - Parameter text: `files.example.com`; `*.example.com` for all names below `example.com`, but not for that name; or
    ///   an address such as `10.0.0.1`, `::1` or `[::1]`. Case and a dot at the end do not matter. International names must
    ///   be in ASCII (RFC 5891).
    public init?(_ text: String) {
        let (isWildcard, rest) = (text.hasPrefix("*."), text.hasPrefix("*.") ? text.dropFirst(2) : text[...])
        switch RequestedHost(String(rest)) {
        case .address(let address):
            // A word such as `1` is an address for resolvers. A rule has to state the address in full.
            let isBracketed = rest.hasPrefix("[") && rest.hasSuffix("]")
            let stated = IPAddress(String(isBracketed ? rest.dropFirst().dropLast() : rest))
            guard !isWildcard, stated == address else { return nil }
            form = .address(address)
        case .name(let name):
            guard Self.isName(rest), !name.isEmpty else { return nil }
            form = isWildcard ? .namesEndingIn("." + name) : .name(name)
        }
    }

    public var description: String {
        switch form {
        case .name(let name): name
        case .namesEndingIn(let ending): "*" + ending
        case .address(let address): "\(address)"
        }
    }

    private static func isName(_ text: Substring) -> Bool {
        let labels = (text.utf8.last == UInt8(ascii: ".") ? text.dropLast() : text)
            .utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.allSatisfy { label in
            !label.isEmpty && label.allSatisfy { $0.isASCIIAlphanumeric || "-_".utf8.contains($0) }
        }
    }

    public func matches(_ host: RequestedHost) -> Bool {
        switch (form, host) {
        case (.address(let address), .address(let other)): address == other
        case (.name(let name), .name(let other)): name == other
        case (.namesEndingIn(let ending), .name(let other)): other.hasSuffix(ending)
        case (.address, .name), (.name, .address), (.namesEndingIn, .address): false
        }
    }
}

/// The host of a URL, in the form in which rules compare it.
public enum RequestedHost: Sendable, Equatable {
    case address(IPAddress)
    /// The name is in lowercase and has no dots at its end.
    case name(String)

    /// - Parameter text: the host as libcurl parses it: without escapes. An IPv6 address may have brackets and a zone.
    public init(_ text: String) {
        let host = text.drop { $0 == "[" }.prefix { $0 != "]" && $0 != "%" }
        let name = String(decoding: host.utf8.map(\.asciiLowercased), as: UTF8.self).droppingDotsAtEnd
        if let address = IPAddress(name) ?? Self.legacyIPv4(name) {
            self = .address(address)
        } else {
            self = .name(name)
        }
    }

    /// Whether resolvers map the name to the loopback (RFC 6761, 6.3).
    public var isLoopbackName: Bool {
        guard case .name(let name) = self else { return false }
        return name == "localhost" || name.hasSuffix(".localhost")
    }

    /// The forms that inet_aton(3) accepts, as getaddrinfo(3) and libcurl do: `127.1`, `0x7f.1`, `0177.0.0.1`, `2130706433`.
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
