import Configuration
import Formats
import HTTPServer
import HTTPTypes

/// Decides what web pages of other origins may do from a browser, by the CORS protocol (WHATWG Fetch, section 3.3):
/// nothing, unless the origin is allowed. The rule also applies to health and the dashboard. It does not affect clients
/// that are not browsers.
struct OriginRule: Sendable {
    private let allowed: AllowedOrigins

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
        guard let text = WebOrigin(origin)?.description, let mark = text.firstRange(of: "://") else { return true }
        let authority = text[mark.upperBound...]
        return authority.isEmpty || authority != (head.host ?? "").lowercased()
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

/// The host names that the service accepts. Any other name may belong to a web page whose author resolves it to this
/// machine (DNS rebinding). IP addresses are always accepted, because they cannot be rebound.
struct HostFieldStep: Sendable {
    private let names: Set<String>

    init(publicHosts: [String]) { names = Set(publicHosts.map { $0.lowercased() }).union(["localhost"]) }

    func check(_ head: RequestHead) throws(Problem) {
        guard let host = head.host else { return }
        let name = Self.name(of: host)
        guard Self.isAddress(name.utf8) || names.contains(name.lowercased()) else {
            throw Problem(
                .misdirectedRequest,
                "'\(host)' is not a name of this service. Start fetchd with --public-host \(name.lowercased()) to let it be one."
            )
        }
    }

    private static func name(of host: String) -> Substring {
        let bytes = host.utf8
        guard bytes.first != UInt8(ascii: "[") else {
            return host[...(bytes.firstIndex(of: UInt8(ascii: "]")) ?? host.index(before: host.endIndex))]
        }
        return host[..<(bytes.firstIndex(of: UInt8(ascii: ":")) ?? host.endIndex)]
    }

    private static func isAddress(_ name: Substring.UTF8View) -> Bool {
        if name.first == UInt8(ascii: "[") {
            return name.last == UInt8(ascii: "]")
                && name.dropFirst().dropLast().allSatisfy {
                    $0.isHexadecimalDigit || $0 == UInt8(ascii: ":") || $0 == dot
                }
        }
        var (numbers, number) = (1, Int?.none)
        for byte in name {
            if byte == dot {
                guard number != nil else { return false }
                (numbers, number) = (numbers + 1, nil)
            } else {
                guard byte.isASCIIDigit, (number ?? 0) <= 25 else { return false }
                number = (number ?? 0) * 10 + Int(byte - UInt8(ascii: "0"))
                guard number ?? 0 <= 255 else { return false }
            }
        }
        return numbers == 4 && number != nil
    }

    private static let dot = UInt8(ascii: ".")
}
