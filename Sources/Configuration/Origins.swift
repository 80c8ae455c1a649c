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

    /// - Parameter texts: origins, or `*`.
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

extension Grammar where Value == AllowedOrigins {
    static var origins: Self {
        .texts { texts throws(ValueFault) in
            try AllowedOrigins(texts)
        } write: {
            $0.texts
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
