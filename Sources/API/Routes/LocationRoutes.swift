import Downloads
import Engine
import Formats
import HTTPServer

/// `/v1/locations`: where files can go, and how many jobs wait for each place.
struct LocationRoutes: Sendable {
    let engine: Engine

    var routes: [Route] { [Route(.get, "/v1/locations", .scope(.read, of: .selection), list)] }

    private func list(_ context: RequestContext) async throws -> Response {
        let caller = context.caller
        let locations = try await engine.locations(where: caller.grant.allow, of: caller.visible)
        return .json(["locations": .array(locations.map { $0.document(forAdministrator: caller.isAdministrator) })])
    }
}

extension LocationStatus {
    fileprivate func document(forAdministrator isForAdministrator: Bool) -> JSON {
        var document: JSONObject = [
            "name": .string(name.text), "healthy": .bool(isHealthy), "why": .optional(why),
            "free_bytes": .optional(freeBytes), "waiting": .count(waiting),
        ]
        switch place {
        case .folder(let path):
            document["kind"] = "folder"
            if isForAdministrator { document["path"] = .string(path) }
        case .bucket(let name, let endpoint):
            document["kind"] = "s3"
            guard isForAdministrator else { break }
            document["bucket"] = .string(name)
            document["endpoint"] = .string(endpoint)
        }
        return .object(document)
    }
}

// MARK: - In requests

/// The names of the locations that options declare.
struct LocationNames: Sendable {
    let declared: Set<Name>

    /// - Parameter pointer: to the job or the session in the request.
    /// - Throws: 422 if no option declares the location.
    func requireDeclared(_ location: Name?, at pointer: String = "") throws(Problem) {
        guard let location, !declared.contains(location) else { return }
        throw Problem(
            .invalidValue,
            "`destination.location` is '\(location)', which no option declares. GET /v1/locations lists the locations.",
            at: pointer + Self.pointer)
    }

    static let pointer = "/destination/location"
}

extension Caller {
    /// - Throws: 403 if the token may not use the location.
    func requireAllowed(_ location: Name, at pointer: String) throws(Problem) {
        guard !grant.allow(location) else { return }
        let names = grant.locations?.map(\.text).joined(separator: ", ") ?? ""
        throw Problem(
            .forbidden, "The token is bound to the locations \(names), and the file would go to \(location).",
            at: pointer)
    }
}

extension WireType<Name> {
    /// The name of a location. Whether it is declared is checked later.
    static let location = Self(
        read: { (reader, name) throws(Problem) in
            try reader.string(name, "must be a name of 1 to 128 of A-Z a-z 0-9 . _ -") { Name($0) }
        },
        write: { .string($0.text) })

    /// What a session says of the destinations of its jobs: `{"location": name}`.
    static let destinationOfSession = Self(
        read: { (reader, name) throws(Problem) in
            try reader.object(name) { (reader) throws(Problem) in try Self.location.read(&reader, "location") } ?? nil
        },
        write: { ["location": .string($0.text)] })
}
