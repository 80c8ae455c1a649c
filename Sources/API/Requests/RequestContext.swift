import Downloads
import Formats
import HTTPServer
import HTTPTypes

/// A request with its route and its caller.
struct RequestContext: Sendable {
    let request: Request
    let match: RouteMatch
    let caller: Caller
    /// nil: the response is one that fetchd keeps rendered for all clients, and the client has sent no identifier.
    var id: RequestID?

    var head: RequestHead { request.head }

    /// The decoded value of a `{name}` in the route's path.
    func parameter(_ name: String) -> String { match.parameter(name) ?? "" }

    /// The session or webhook that the path names. An invalid name gets 404.
    func name(_ parameter: String) throws(Problem) -> Name {
        guard let name = Name(self.parameter(parameter)) else {
            throw Problem(
                .notFound,
                "'\(self.parameter(parameter))' cannot name a \(parameter): 1 to 128 of A-Z a-z 0-9 . _ - are allowed.")
        }
        return name
    }

    var job: JobID { JobID(parameter("id")) }

    /// Reads the query with `read`. A parameter that `read` does not read is refused.
    func query<Value>(_ read: (inout Query) throws(Problem) -> Value) throws(Problem) -> Value {
        var query = try Query(head.query)
        // It was redeemed before.
        if match.route.takesTicket { _ = try query.value("ticket") }
        let value = try read(&query)
        try query.finish()
        return value
    }

    /// Reads the object of the body with `read`. A member that `read` does not read is refused.
    func body<Value>(_ read: (inout FieldReader) throws(Problem) -> Value) throws(Problem) -> Value {
        var reader = try FieldReader(try JSONBody.parse(request.body))
        let value = try read(&reader)
        try reader.finish()
        return value
    }

    /// For actions without options. An empty object is accepted, because some clients send one.
    func requireNoOptions() throws(Problem) {
        if hasBody { try body { _ throws(Problem) in } }
    }

    var hasBody: Bool { !request.body.isEmpty }
}

extension Response {
    static func json(_ document: JSON, _ status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]) -> Response {
        json(line: document.line, status, headers)
    }

    /// - Parameter text: one JSON value.
    static func json(_ text: consuming JSONWriter, headers: HTTPFields = [:]) -> Response {
        text.endLine()
        return json(line: text.bytes, .ok, headers)
    }

    private static func json(line: [UInt8], _ status: HTTPResponse.Status, _ headers: HTTPFields) -> Response {
        var headers = headers
        headers[.contentType] = "application/json"
        return Response(status: status, headers: headers, body: .bytes(line))
    }

    static let noContent = Response(status: .noContent)
}
