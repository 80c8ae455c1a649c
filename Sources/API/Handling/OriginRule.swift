import HTTPServer
import HTTPTypes

/// Decides what web pages of other origins may do from a browser, by the CORS protocol (WHATWG Fetch, section 3.3):
/// nothing, unless the origin is allowed. The rule also applies to health and the dashboard. It does not affect clients
/// that are not browsers.
struct OriginRule: Sendable {
    private let allowed: AllowedOrigins

    /// Whether `fields(for:)` adds fields to any response.
    let addsFields: Bool

    init(_ allowed: AllowedOrigins) {
        self.allowed = allowed
        addsFields = allowed != .only([])
    }

    /// Refuses changes by web pages of other origins. Browsers send a POST without a body (such as `cancel`) to any
    /// origin without a preflight request, and only hide the response from the page.
    ///
    /// - Throws: 403.
    func check(_ head: RequestHead) throws(Problem) {
        guard ![.get, .head, .options].contains(head.method) else { return }
        try checkAsChange(head)
    }

    /// The same for a request of any method that can change something.
    func checkAsChange(_ head: RequestHead) throws(Problem) {
        guard isForeign(head) else { return }
        let origin = head.headers[.origin]
        guard !(origin.map(allowed.contain) ?? false) else { return }
        let remedy = origin.flatMap(WebOrigin.init).map { " Start fetchd with --allow-origin \($0) to let them." } ?? ""
        throw Problem(
            .foreignOrigin, "Web pages of \(origin ?? "other origins") may not change anything here.\(remedy)")
    }

    /// Whether the browser asks which requests a page may send, before it sends the page's own request.
    func isPreflight(_ head: RequestHead) -> Bool {
        head.method == .options && head.headers[.accessControlRequestMethod] != nil && allowedOrigin(of: head) != nil
    }

    /// The CORS fields of a response; empty if no origin is allowed.
    func fields(for head: RequestHead) -> HTTPFields {
        var fields: HTTPFields = [:]
        switch allowed {
        case .only(let origins) where origins.isEmpty: return fields
        // Without this field a cache could send the response for one origin to another origin.
        case .only: fields[.vary] = "Origin"
        case .any: break
        }
        guard let origin = allowedOrigin(of: head) else { return fields }
        fields[.accessControlAllowOrigin] = allowed == .any ? "*" : origin
        guard isPreflight(head) else {
            fields[.accessControlExposeHeaders] = Self.exposed
            return fields
        }
        fields[.accessControlAllowHeaders] = Self.requestFields
        fields[.accessControlMaxAge] = Self.maxAge
        if head.headers[.accessControlRequestPrivateNetwork] == "true" {
            fields[.accessControlAllowPrivateNetwork] = "true"
        }
        return fields
    }

    private func allowedOrigin(of head: RequestHead) -> String? {
        head.headers[.origin].flatMap { origin in allowed.contain(origin) ? origin : nil }
    }

    /// Uses Fetch Metadata if the browser sends it. Behind a proxy that changes `Host`, `Origin` cannot be compared
    /// with it.
    private func isForeign(_ head: RequestHead) -> Bool {
        if let site = head.headers[.secFetchSite] { return site != "same-origin" && site != "none" }
        guard let origin = head.headers[.origin] else { return false }
        guard let authority = WebOrigin(origin)?.description.part(behind: "://"), !authority.isEmpty else {
            return true
        }
        return authority != (head.host ?? "").lowercased()
    }

    /// The request fields of the contract that a page may send only after permission.
    private static let requestFields = [
        "Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "If-Range", "Last-Event-ID",
        "Prefer", "Range",
    ].joined(separator: ", ")

    /// The response fields of the contract that a page may read only after permission.
    private static let exposed = [
        "Accept-Ranges", "Allow", "Content-Disposition", "Content-Range", "ETag", "Location", "Preference-Applied",
        "RateLimit", "RateLimit-Policy", "Retry-After", "WWW-Authenticate",
    ].joined(separator: ", ")

    /// Seconds for which a browser may cache the permission: the maximum that Chromium accepts.
    private static let maxAge = "7200"
}

extension String {
    fileprivate func part(behind mark: String) -> Substring? {
        firstRange(of: mark).map { self[$0.upperBound...] }
    }
}

extension HTTPField.Name {
    static let secFetchSite = Self("Sec-Fetch-Site")!
    /// Private Network Access: a page from the Internet requests access to a machine in the local network.
    static let accessControlRequestPrivateNetwork = Self("Access-Control-Request-Private-Network")!
    static let accessControlAllowPrivateNetwork = Self("Access-Control-Allow-Private-Network")!
}

/// The origins whose web pages may use the API from a browser.
public enum AllowedOrigins: Sendable, Hashable {
    /// These origins, besides the service's own origin. By default the set is empty.
    case only(Set<WebOrigin>)
    /// All origins. The API uses no cookies and no other credentials that a browser adds by itself. So a page can only
    /// use the token that its user has given it; if the service has no token, every page has full access.
    case any

    func contain(_ origin: String) -> Bool {
        switch self {
        // Only the canonical form matches, because browsers send that form.
        case .only(let origins) where origin == WebOrigin.shared.description: origins.contains(.shared)
        case .only(let origins): WebOrigin(origin).map { $0.description == origin && origins.contains($0) } ?? false
        case .any: true
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
