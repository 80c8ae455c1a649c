/// The route of a request, with the path that was found to be its own.
struct RouteMatch: Sendable {
    let route: Route
    /// The decoded components.
    let path: [Substring]

    /// What stands for `{name}` in the route's path; nil if the route has no such parameter.
    func parameter(_ name: String) -> String? {
        for (pattern, component) in zip(route.pattern, path)
        where pattern.hasPrefix("{") && pattern.dropFirst().dropLast() == name {
            return String(component)
        }
        return nil
    }
}
