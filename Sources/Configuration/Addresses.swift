import CurlClient
import Formats
import Foundation

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

/// The address at which the other services of the database reach this one: the start of the URLs of its API.
public struct NodeAddress: Sendable, Equatable {
    public let url: String
    /// It has no port. An IPv6 address is in brackets.
    public let host: String

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

/// The reverse proxies whose `X-Forwarded-For` is believed.
///
/// Each proxy appends the address of its own client to the field, so the last entries are those of the nearest proxies, and
/// the first ones may be invented. The client is the last entry that is not a trusted proxy itself.
public struct TrustedProxies: Sendable, Equatable {
    /// In a list of networks, stands for the proxies on the Unix domain socket.
    public static let unixSocket = "unix"

    private var networks: [Network] = []
    private var trustsUnixSocket = false

    public init() {}

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

/// The origins whose web pages may use the API from a browser.
public enum AllowedOrigins: Sendable, Hashable {
    /// These origins, in addition to the service's own origin. By default the set is empty.
    case only(Set<WebOrigin>)
    /// All origins. The API uses no cookies and no other credentials that a browser adds by itself. So a page can only
    /// use the token that its user has given it; if the service has no token, every page has full access.
    case any

    public func contain(_ origin: String) -> Bool {
        switch self {
        // Only the canonical form matches, because browsers send that form.
        case .only(let origins) where origin == WebOrigin.shared.description: origins.contains(.shared)
        case .only(let origins): WebOrigin(origin).map { $0.description == origin && origins.contains($0) } ?? false
        case .any: true
        }
    }

    init(_ texts: [String]) throws(ValueFault) {
        guard !texts.contains("*") else {
            self = .any
            return
        }
        self = .only(Set(try texts.map(Self.origin)))
    }

    private static func origin(_ text: String) throws(ValueFault) -> WebOrigin {
        if text == WebOrigin.shared.description { return .shared }
        if let origin = WebOrigin(text) { return origin }
        throw ValueFault(
            "contains '\(text)'; it takes origins (scheme, host and port, without a path), such as https://downloads.example or http://localhost:9000, or * for any origin"
        )
    }

    var texts: [String] {
        switch self {
        case .only(let origins): origins.map(\.description).sorted()
        case .any: ["*"]
        }
    }
}

/// The origin of a web page, in the form of the `Origin` field: scheme, host, and the port unless it is the scheme's
/// default port (WHATWG HTML, "ASCII serialization of an origin").
public struct WebOrigin: Sendable, Hashable, CustomStringConvertible {
    /// Such as `http://127.0.0.1:9000`, in lower case.
    public let description: String

    /// Also accepts capitals, the scheme's default port, and the slash that address bars add.
    ///
    /// - Returns: nil for any other text: with a path, a user or a pattern, with a name that is not ASCII (browsers
    ///   send Punycode), and for `null`: see `shared`.
    public init?(_ text: String) {
        let lowered = text.lowercased()
        guard let mark = lowered.firstRange(of: "://") else { return nil }
        let scheme = lowered[..<mark.lowerBound]
        var authority = lowered[mark.upperBound...]
        if authority.hasSuffix("/") { authority = authority.dropLast() }
        if scheme == "file", authority.isEmpty {
            // Chromium sends it for a page that was opened as a file, in a handshake of a WebSocket.
            description = "file://"
            return
        }
        guard Self.isScheme(scheme), let (host, port) = Self.hostAndPort(authority) else { return nil }
        let isDefaultPort = port == nil || port == Self.ownPorts[String(scheme)]
        description = "\(scheme)://\(host)" + (isDefaultPort ? "" : ":\(port ?? 0)")
    }

    /// `null`, the origin that all files and sandboxed pages share. Its requests need a token in any case.
    public static let shared = WebOrigin(trusted: "null")

    private init(trusted description: String) { self.description = description }

    private static let ownPorts: [String: UInt16] = ["http": 80, "https": 443]

    /// RFC 3986, section 3.1. Other schemes than HTTP are accepted, because browser extensions have their own schemes.
    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, isLetter(first) else { return false }
        return text.utf8.allSatisfy { isLetter($0) || isDigit($0) || "+-.".utf8.contains($0) }
    }

    private static func hostAndPort(_ authority: Substring) -> (host: Substring, port: UInt16?)? {
        // A bracketed address contains colons itself.
        let bracket = authority.lastIndex(of: "]") ?? authority.startIndex
        guard let colon = authority[bracket...].firstIndex(of: ":") else {
            return isHost(authority) ? (authority, nil) : nil
        }
        let (host, digits) = (authority[..<colon], authority[authority.index(after: colon)...])
        guard isHost(host), digits.utf8.allSatisfy(isDigit), let port = UInt16(digits), port > 0 else { return nil }
        return (host, port)
    }

    private static func isHost(_ text: Substring) -> Bool {
        if text.hasPrefix("["), text.hasSuffix("]") {
            let address = text.dropFirst().dropLast()
            return address.contains(":") && address.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
        }
        return !text.isEmpty && text.utf8.allSatisfy { isLetter($0) || isDigit($0) || "-._".utf8.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
