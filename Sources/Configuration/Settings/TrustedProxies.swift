import CurlClient

/// The reverse proxies whose `X-Forwarded-For` is believed.
///
/// Each proxy appends the address of its own client to the field, so the last entries are those of the nearest proxies, and
/// the first ones may be invented. The client is the last entry that is not a trusted proxy itself.
public struct TrustedProxies: Sendable, Equatable {
    /// In a list of networks, stands for the proxies on the Unix domain socket.
    public static let unixSocket = "unix"

    private var networks: [Network] = []
    private var trustsUnixSocket = false

    /// Trusts no proxy.
    public init() {}

    /// - Parameter texts: networks, addresses, or `unix`.
    /// - Throws: the first text that is none of these.
    public init(_ texts: [String]) throws(Unreadable) {
        for text in texts {
            if text == Self.unixSocket {
                trustsUnixSocket = true
            } else if let network = Network(text) {
                networks.append(network)
            } else {
                throw Unreadable(text: text)
            }
        }
    }

    public struct Unreadable: Error {
        public let text: String
    }

    public var areAny: Bool { trustsUnixSocket || !networks.isEmpty }

    /// The address of the client for whom a proxy sends a request.
    ///
    /// - Parameters:
    ///   - peer: the address of the connection, or `unixSocket`.
    ///   - forwarded: the entries of `X-Forwarded-For`, joined by commas; nil without the field.
    /// - Returns: nil if the connection is not that of a trusted proxy, or if the proxy names no client.
    public func client(of peer: String, forwarded: String?) -> String? {
        guard let forwarded, trusts(peer) else { return nil }
        var client: String?
        for entry in forwarded.split(separator: ",", omittingEmptySubsequences: false).reversed() {
            // What a proxy does not understand, the one before it has invented.
            guard let address = Self.address(entry) else { break }
            client = address.description
            if !networks.contains(where: { $0.contains(address) }) { break }
        }
        return client
    }

    private func trusts(_ peer: String) -> Bool {
        if peer == Self.unixSocket { return trustsUnixSocket }
        guard !networks.isEmpty, let address = IPAddress(peer) else { return false }
        return networks.contains { $0.contains(address) }
    }

    /// Some proxies write a port, and brackets around an IPv6 address.
    private static func address(_ entry: Substring) -> IPAddress? {
        let text = entry.drop { $0 == " " || $0 == "\t" }
        let trimmed = text.prefix { $0 != " " && $0 != "\t" }
        guard text.dropFirst(trimmed.count).allSatisfy({ $0 == " " || $0 == "\t" }) else { return nil }
        if let address = IPAddress(String(trimmed)) { return address }
        if trimmed.first == "[", let end = trimmed.firstIndex(of: "]") {
            return IPAddress(String(trimmed[trimmed.index(after: trimmed.startIndex)..<end]))
        }
        guard trimmed.utf8.count(where: { $0 == UInt8(ascii: ":") }) == 1 else { return nil }
        return IPAddress(String(trimmed.prefix { $0 != ":" }))
    }
}
