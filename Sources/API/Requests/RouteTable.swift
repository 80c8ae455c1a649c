import Formats
import HTTPServer
import HTTPTypes

/// Finds the route of a request.
struct RouteTable: Sendable {
    private let root: PathNode

    init(_ routes: [Route]) { root = PathNode(routes) }

    /// - Throws: 404 for an unknown path, 405 with `Allow` for a method that the path does not have.
    func find(_ head: RequestHead) throws(Problem) -> RouteMatch {
        let path = try Self.components(of: head)
        let routes = try routes(at: path, head)
        // HEAD uses the route of GET, and the server omits the body.
        let method: HTTPRequest.Method = head.method == .head ? .get : head.method
        guard let route = routes.first(where: { $0.method == method }) else {
            throw Self.notAllowed(head, Self.methods(of: routes))
        }
        return RouteMatch(route: route, path: path)
    }

    /// The methods of a path.
    ///
    /// - Throws: 404.
    func methods(at head: RequestHead) throws(Problem) -> [String] {
        Self.methods(of: try routes(at: try Self.components(of: head), head))
    }

    /// The routes that match the path, at least one.
    ///
    /// - Throws: 404.
    private func routes(at path: [Substring], _ head: RequestHead) throws(Problem) -> [Route] {
        guard let routes = root.routes(at: path[...]) else {
            throw Problem(.notFound, "No route matches \(head.path). GET /openapi.yaml describes the API.")
        }
        return routes
    }

    private static func methods(of routes: [Route]) -> [String] {
        let methods = Set(routes.map(\.method))
        return (methods.contains(.get) ? methods.union([.head]) : methods).map(\.rawValue).sorted()
    }

    private static func notAllowed(_ head: RequestHead, _ allowed: [String]) -> Problem {
        var problem = Problem(
            .methodNotAllowed, "\(head.method.rawValue) is not possible here; \(allowed.joined(separator: ", ")) is.")
        problem.headers[.allow] = allowed.joined(separator: ", ")
        return problem
    }

    /// Decodes each component separately, so that an encoded slash stays inside its component.
    ///
    /// Every request passes here, so the bytes are looked at once.
    private static func components(of head: RequestHead) throws(Problem) -> [Substring] {
        var path = head.path
        var (slashes, isEncoded): ([Int], Bool) = ([], false)
        path.withUTF8 { bytes in
            for position in 0..<bytes.count {
                let byte = bytes[position]
                if byte == UInt8(ascii: "/") { slashes.append(position) }
                if byte == UInt8(ascii: "%") { isEncoded = true }
            }
            slashes.append(bytes.count)
        }
        var components: [Substring] = []
        components.reserveCapacity(slashes.count)
        for next in 1..<max(1, slashes.count) {
            let start = path.utf8.index(path.startIndex, offsetBy: slashes[next - 1] + 1)
            let component = path[start..<path.utf8.index(path.startIndex, offsetBy: slashes[next])]
            components.append(isEncoded ? try decoded(component) : component)
        }
        return components == [""] ? [] : components
    }

    private static func decoded(_ component: Substring) throws(Problem) -> Substring {
        guard let decoded = component.percentDecoded, !decoded.utf8.contains(0) else {
            throw Problem(.malformedRequest, "The path holds a malformed percent-encoding.")
        }
        return decoded[...]
    }
}

/// The route of a request, with the path that was found to be its own.
struct RouteMatch: Sendable {
    let route: Route
    /// The decoded components.
    let path: [Substring]

    /// The job that the path names; nil if it names none.
    var job: String? {
        guard case .scope(_, .job) = route.access else { return nil }
        return parameter("id")
    }

    /// What stands for `{name}` in the route's path; nil if the route has no such parameter.
    func parameter(_ name: String) -> String? {
        route.parameters.first { $0.name == name }.map { String(path[$0.position]) }
    }
}

/// A node of the tree of paths: the routes whose paths end here, and the components that can follow.
final class PathNode: Sendable {
    private let routes: [Route]
    private let literals: [Substring: PathNode]
    /// Follows any component that is not empty.
    private let parameter: PathNode?

    /// - Parameters:
    ///   - routes: with paths that are equal in their first components.
    ///   - depth: the number of these components.
    init(_ routes: [Route], at depth: Int = 0) {
        self.routes = routes.filter { $0.pattern.count == depth }
        let longer = Dictionary(grouping: routes.filter { $0.pattern.count > depth }) { $0.pattern[depth] }
        literals = longer.filter { !$0.key.hasPrefix("{") }.mapValues { PathNode($0, at: depth + 1) }
        let parameters = longer.filter { $0.key.hasPrefix("{") }.flatMap(\.value)
        parameter = parameters.isEmpty ? nil : PathNode(parameters, at: depth + 1)
    }

    /// The routes of a path, at least one; nil if there is none. Of `/v1/jobs/batch` and `/v1/jobs/{id}`, the former: a
    /// literal component is preferred to a parameter.
    func routes(at path: ArraySlice<Substring>) -> [Route]? {
        guard let first = path.first else { return routes.isEmpty ? nil : routes }
        let rest = path.dropFirst()
        if let found = literals[first]?.routes(at: rest) { return found }
        return first.isEmpty ? nil : parameter?.routes(at: rest)
    }
}
