/// Whose pages may use the API from a browser.
public enum AllowedOrigins: Sendable, Hashable {
    /// Those of these origins, besides the service's own. None, by default.
    case only(Set<WebOrigin>)
    /// Everybody's. There are no cookies and no other credentials that a browser would add by itself, so that a page
    /// gets no further than with the token that it was given; without a token, it gets everywhere.
    case any

    func contain(_ origin: String) -> Bool {
        switch self {
        // Only what it would be written as: what browsers send is in its one form already.
        case .only(let origins): WebOrigin(origin).map { $0.description == origin && origins.contains($0) } ?? false
        case .any: true
        }
    }
}
