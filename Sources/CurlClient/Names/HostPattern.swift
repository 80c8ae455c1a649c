/// A rule that selects hosts: a name, all names below a name (`*.example.com`), or an address.
public struct HostPattern: Sendable, Hashable, CustomStringConvertible {
    private enum Form: Hashable {
        case name(String)
        /// `.example.com`
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
        return labels.allSatisfy { label in !label.isEmpty && label.allSatisfy(\.isHostNameCharacter) }
    }

    func matches(_ host: RequestedHost) -> Bool {
        switch (form, host) {
        case (.address(let address), .address(let other)): address == other
        case (.name(let name), .name(let other)): name == other
        case (.namesEndingIn(let ending), .name(let other)): other.hasSuffix(ending)
        case (.address, .name), (.name, .address), (.namesEndingIn, .address): false
        }
    }
}

extension UInt8 {
    /// A letter, a digit, `-` or `_`.
    fileprivate var isHostNameCharacter: Bool {
        switch asciiLowercased {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default:
            false
        }
    }
}
