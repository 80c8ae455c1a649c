/// The route of a request, with the path that was found to be its own.
struct RouteMatch: Sendable {
    let route: Route
    /// The decoded components.
    let path: [Substring]

    /// What stands for `{name}` in the route's path; nil if the route has no such parameter.
    func parameter(_ name: String) -> String? {
        route.parameters.first { $0.name == name }.map { String(path[$0.position]) }
    }
}
