/// A node of the tree of paths: the routes whose paths end here, and the components that can follow.
final class PathNode: Sendable {
    private let routes: [Route]
    private let literals: [(component: Substring, node: PathNode)]
    /// Follows any component that is not empty.
    private let parameter: PathNode?

    /// - Parameters:
    ///   - routes: with paths that are equal in their first components.
    ///   - depth: the number of these components.
    init(_ routes: [Route], at depth: Int = 0) {
        self.routes = routes.filter { $0.pattern.count == depth }
        let longer = Dictionary(grouping: routes.filter { $0.pattern.count > depth }) { $0.pattern[depth] }
        literals = longer.filter { !$0.key.hasPrefix("{") }.map { ($0.key, PathNode($0.value, at: depth + 1)) }
        let parameters = longer.filter { $0.key.hasPrefix("{") }.flatMap(\.value)
        parameter = parameters.isEmpty ? nil : PathNode(parameters, at: depth + 1)
    }

    /// The routes of a path, at least one; nil if there is none. Of `/v1/jobs/batch` and `/v1/jobs/{id}`, the former: a
    /// literal component is preferred to a parameter.
    func routes(at path: ArraySlice<Substring>) -> [Route]? {
        guard let first = path.first else { return routes.isEmpty ? nil : routes }
        let rest = path.dropFirst()
        if let literal = literals.first(where: { $0.component == first }), let found = literal.node.routes(at: rest) {
            return found
        }
        return first.isEmpty ? nil : parameter?.routes(at: rest)
    }
}
