import Configuration
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
