import Foundation
import HTTPServer
import HTTPTypes

/// Finds the route of a request.
struct RouteTable: Sendable {
    private let routes: [Route]

    init(_ routes: [Route]) { self.routes = routes }

    /// - Throws: 404 for an unknown path, 405 with `Allow` for a method that the path does not have.
    func find(_ head: RequestHead) throws(Problem) -> (route: Route, parameters: [String: String]) {
        let matches = try matches(head)
        // HEAD uses the route of GET, and the server omits the body.
        let method: HTTPRequest.Method = head.method == .head ? .get : head.method
        guard let match = matches.first(where: { $0.route.method == method }) else {
            throw Self.notAllowed(head, Self.methods(of: matches))
        }
        return match
    }

    /// The methods of a path.
    ///
    /// - Throws: 404.
    func methods(at head: RequestHead) throws(Problem) -> [String] { Self.methods(of: try matches(head)) }

    private typealias Match = (route: Route, parameters: [String: String])

    /// The routes that match the path, at least one.
    ///
    /// - Throws: 404.
    private func matches(_ head: RequestHead) throws(Problem) -> [Match] {
        let path = try Self.components(of: head.path)
        let matches = Self.nearest(routes.compactMap { route in route.match(path).map { (route, $0) } })
        guard !matches.isEmpty else {
            throw Problem(.notFound, "No route matches \(head.path). GET /openapi.yaml describes the API.")
        }
        return matches
    }

    /// The matches with the fewest parameters: `/v1/jobs/batch` takes precedence over `/v1/jobs/{id}`.
    private static func nearest(_ matches: [Match]) -> [Match] {
        let fewest = matches.map(\.parameters.count).min()
        return matches.filter { $0.parameters.count == fewest }
    }

    private static func methods(of matches: [Match]) -> [String] {
        let methods = Set(matches.map(\.route.method))
        return (methods.contains(.get) ? methods.union([.head]) : methods).map(\.rawValue).sorted()
    }

    private static func notAllowed(_ head: RequestHead, _ allowed: [String]) -> Problem {
        var problem = Problem(
            .methodNotAllowed, "\(head.method.rawValue) is not possible here; \(allowed.joined(separator: ", ")) is.")
        problem.headers[.allow] = allowed.joined(separator: ", ")
        return problem
    }

    /// Decodes each component separately, so that an encoded slash stays inside its component.
    private static func components(of path: String) throws(Problem) -> [String] {
        var components: [String] = []
        for component in path.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            guard let decoded = String(component).removingPercentEncoding, !decoded.contains("\0") else {
                throw Problem(.malformedRequest, "The path contains a malformed percent-encoding.")
            }
            components.append(decoded)
        }
        return components == [""] ? [] : components
    }
}
