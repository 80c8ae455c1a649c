import CurlClient
import Foundation

// The addresses of the service and of its callers, as settings name them.

/// `HOST:PORT`, where the host is an address (IPv6 in brackets) or `localhost`.
public struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    public let host: String
    public let port: UInt16

    static let standard = ListenAddress(host: "127.0.0.1", port: 8080)

    private init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    init(_ text: String) throws(ValueFault) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            throw ValueFault("is '\(text)'; it takes HOST:PORT, such as 127.0.0.1:8080 or [::1]:8080, or none")
        }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if host == "localhost" { host = "127.0.0.1" }
        guard IPAddress(host) != nil else {
            throw ValueFault(
                "is '\(text)'; '\(host)' is not an IP address. Use 0.0.0.0 for all IPv4 addresses, [::] for all addresses"
            )
        }
        self.init(host: host, port: port)
    }

    public var isLoopback: Bool {
        guard let address = IPAddress(host) else { return false }
        return address.isIPv4 ? address.bytes.first == 127 : address == IPAddress("::1")
    }

    /// The same address with the port that the system chose.
    public func with(port: UInt16) -> ListenAddress { ListenAddress(host: host, port: port) }

    public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension Grammar where Value == ListenAddress? {
    /// `none`: no port.
    static var address: Self {
        .text { text throws(ValueFault) in
            text == "none" ? nil : try ListenAddress(text)
        } write: {
            $0?.description ?? "none"
        }
    }
}

/// The address at which other nodes reach this one: the start of the URLs of its API.
public struct NodeAddress: Sendable, Equatable {
    /// It does not end with a slash.
    public let url: String
    /// It has no port. An IPv6 address is in brackets.
    public let host: String

    /// - Returns: nil if the text is no such address.
    init?(_ text: String) {
        // Foundation would encode other characters, such as a space at the end.
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let components = URLComponents(string: text),
            ["http", "https"].contains(components.scheme?.lowercased()),
            let host = components.encodedHost, !host.isEmpty, components.user == nil, components.password == nil,
            components.query == nil, components.fragment == nil
        else { return nil }
        url = text.hasSuffix("/") ? String(text.dropLast()) : text
        self.host = host
    }
}

extension Grammar where Value == NodeAddress {
    static var node: Self {
        .text(
            "it must be an http or https address without user, query, fragment and spaces, such as http://10.0.0.7:8080"
        ) {
            NodeAddress($0)
        } write: {
            $0.url
        }
    }
}

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
    /// - Throws: if a text is none of these.
    public init(_ texts: [String]) throws(ValueFault) {
        for text in texts {
            if text == Self.unixSocket {
                trustsUnixSocket = true
            } else if let network = Network(text) {
                networks.append(network)
            } else {
                throw ValueFault(
                    "contains '\(text)'; it takes networks, such as 10.0.0.0/8 or 10.0.0.7, or \(Self.unixSocket) for the Unix domain socket"
                )
            }
        }
    }

    var texts: [String] { (trustsUnixSocket ? [Self.unixSocket] : []) + networks.map(\.description) }

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

extension Grammar where Value == TrustedProxies {
    static var proxies: Self {
        .texts { texts throws(ValueFault) in
            try TrustedProxies(texts)
        } write: {
            $0.texts
        }
    }
}
