import Foundation
import HTTPServer
import HTTPTypes

/// Finds the route of a request.
struct RouteTable: Sendable {
    private typealias Match = (route: Route, parameters: [String: String])

    private let routes: [Route]

    init(_ routes: [Route]) { self.routes = routes }

    /// - Throws: 404 for a path that is none, 405 with `Allow` for a method that the path does not have.
    func find(_ head: RequestHead) throws(Problem) -> (route: Route, parameters: [String: String]) {
        let path = try Self.components(of: head.path)
        let matches = Self.nearest(routes.compactMap { route in route.match(path).map { (route, $0) } })
        guard !matches.isEmpty else {
            throw Problem(.notFound, "There is nothing at \(head.path). GET /openapi.yaml lists what there is.")
        }
        // HEAD is GET without the body; the server leaves that out.
        let method: HTTPRequest.Method = head.method == .head ? .get : head.method
        guard let match = matches.first(where: { $0.route.method == method }) else {
            throw Self.notAllowed(head, Set(matches.map(\.route.method)))
        }
        return match
    }

    /// Of `/v1/jobs/batch` and `/v1/jobs/{id}`, the former: a path is that which names most of it.
    private static func nearest(_ matches: [Match]) -> [Match] {
        let fewest = matches.map(\.parameters.count).min()
        return matches.filter { $0.parameters.count == fewest }
    }

    private static func notAllowed(_ head: RequestHead, _ methods: Set<HTTPRequest.Method>) -> Problem {
        let allowed = (methods.contains(.get) ? methods.union([.head]) : methods).map(\.rawValue).sorted()
        var problem = Problem(
            .methodNotAllowed, "\(head.method.rawValue) is not possible here; \(allowed.joined(separator: ", ")) is.")
        problem.headers[.allow] = allowed.joined(separator: ", ")
        return problem
    }

    /// Decoded one by one, so that an encoded slash stays inside its component.
    private static func components(of path: String) throws(Problem) -> [String] {
        var components: [String] = []
        for component in path.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
            guard let decoded = String(component).removingPercentEncoding, !decoded.contains("\0") else {
                throw Problem(.malformedRequest, "The path holds a malformed percent-encoding.")
            }
            components.append(decoded)
        }
        return components == [""] ? [] : components
    }
}
