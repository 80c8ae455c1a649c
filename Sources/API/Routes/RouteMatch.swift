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
