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
