import Base
import Downloads
import Formats
import Foundation
import HTTPSemantics
import HTTPServer
import HTTPTypes
import Logging
import Storage

struct RequestContext: Sendable {
    let request: Request
    let match: RouteMatch
    let caller: Caller
    /// nil: the response is one that fetchd keeps rendered for all clients, and the client has sent no identifier.
    var id: RequestID?
    /// The body, if it is a list.
    var upload: ListUpload?

    var head: RequestHead { request.head }

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
        if match.route.takesOneTimeToken { _ = try query.value("ticket") }
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

    func optionalBody<Value>(_ read: (inout FieldReader) throws(Problem) -> Value?) throws(Problem) -> Value? {
        hasBody ? try body(read) : nil
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

/// `Idempotency-Key` on requests that create jobs (draft-ietf-httpapi-idempotency-key-header).
extension RequestContext {
    /// The claim of the request; nil without the field.
    /// - Throws: 400 for an invalid key.
    func idempotencyClaim() throws(Problem) -> IdempotencyClaim? {
        guard let key = head.headers[.idempotencyKey] else { return nil }
        guard (1...255).contains(key.utf8.count), key.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw Problem(.malformedRequest, "Idempotency-Key takes 1 to 255 characters of printable ASCII.")
        }
        return IdempotencyClaim(
            caller: caller.identity, route: "\(head.method.rawValue) \(head.path)", key: key,
            fingerprint: Data(HashFunction.sha256.hash(request.body)))
    }
}

/// `If-Match`: the request applies only if the job or session has not changed since (RFC 9110, section 13.1.1). The field is
/// checked after the body, so that a malformed request gets the error for its body.
extension RequestContext {
    /// The revision that the client expects; nil without the field, and for `*`. Only revisions are compared, not
    /// progress.
    /// - Throws: 412 if the field is not the ETag of a job or session, 400 if it is empty.
    func expectedRevision() throws(Problem) -> Int? {
        guard let field = head.headers[.ifMatch]?.trimmingCharacters(in: .whitespaces), field != "*" else { return nil }
        guard !field.isEmpty else {
            throw Problem(.malformedRequest, "If-Match is empty; it takes one ETag, such as \"7.1048576\".")
        }
        guard let tag = JobETag(field) else {
            throw Problem(
                .preconditionFailed,
                "If-Match is '\(field)'; it takes one ETag, such as \"7.1048576\".")
        }
        return tag.revision
    }

    /// What the client expects of a session that need not exist.
    func sessionExpectation() throws(Problem) -> SessionExpectation {
        if let revision = try expectedRevision() { return .revision(revision) }
        return head.headers[.ifMatch] == nil ? .nothing : .existence
    }
}

extension RequestContext {
    /// Seconds that the client is willing to wait for a change (`Prefer: wait=10`, RFC 7240, section 4.3), limited to
    /// `longestWait`. nil without the preference, or if it is invalid: a preference must not cause an error.
    var preferredWait: Int? {
        let preferences = (head.headers[.prefer] ?? "").split(separator: ",")
        let wait = preferences.lazy.compactMap(Self.wait).first
        return wait.map { min($0, Self.longestWait) }
    }

    static let longestWait = 30

    /// Whether the client may have asked to wait: it sends `Prefer`, or the query contains `wait=`.
    var asksToWait: Bool { head.headers[.prefer] != nil || head.query?.contains("wait=") == true }

    /// The seconds of one preference with its parameters; nil for another preference. If the preference is repeated,
    /// the caller uses the first (RFC 7240, section 2).
    private static func wait(_ preference: Substring) -> Int? {
        let halves = preference.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        guard halves.count == 2, halves[0].lowercased() == "wait" else { return nil }
        let digits = halves[1].trimmingCharacters(in: CharacterSet(charactersIn: "\""))
        guard !digits.isEmpty, digits.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        return Int(digits) ?? Self.longestWait
    }

    var ifNoneMatch: IfNoneMatch? { head.headers[.ifNoneMatch].map { IfNoneMatch($0) } }

    /// Whether the client accepts a stream of events and does not prefer JSON (RFC 9110, section 12.5.1). With equal
    /// weights, the first one counts: generated clients list all described media types, and can only read the page.
    var wantsEventStream: Bool {
        let accepted = (head.headers[.accept] ?? "").split(separator: ",").map { WeightedName($0) }
        let readable = accepted.filter { ["application/json", "text/event-stream"].contains($0.name) && $0.weight > 0 }
        let heaviest = readable.map(\.weight).max()
        return readable.first { $0.weight == heaviest }?.name == "text/event-stream"
    }
}

extension RequestHead {
    /// Whether the client takes gzip (RFC 9110, section 12.5.3).
    var acceptsGzip: Bool {
        guard let accepted = headers[.acceptEncoding] else { return false }
        let codings = accepted.split(separator: ",").map { WeightedName($0) }
        let gzip = codings.first { ["gzip", "x-gzip"].contains($0.name) } ?? codings.first { $0.name == "*" }
        return (gzip?.weight ?? 0) > 0
    }
}

/// A member of `Accept` or `Accept-Encoding` (RFC 9110, section 12.4.2).
private struct WeightedName {
    let name: String
    /// The weight, from 0 (not acceptable) to 1.
    var weight = 1.0

    init(_ member: Substring) {
        let parts = member.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces).lowercased() }
        name = parts.first ?? ""
        for part in parts.dropFirst() where part.hasPrefix("q=") { weight = Double(part.dropFirst(2)) ?? 1 }
    }
}

extension RequestContext {
    /// The trace that the request belongs to; nil if it names none, or an invalid one, which is ignored as the
    /// specification asks.
    var trace: TraceContext? {
        guard head.headers.contains(.traceParent), let parent = head.headers[.traceParent] else { return nil }
        return TraceContext(parent: parent, state: head.headers[.traceState])
    }
}

extension RequestContext {
    var logFields: Logger.Metadata {
        var fields: Logger.Metadata = ["address": "\(head.clientAddress)"]
        if let id { fields["request"] = "\(id.text)" }
        if let label = caller.label { fields["caller"] = "\(label)" }
        return fields
    }
}

/// The fields that swift-http-types does not name.
extension HTTPField.Name {
    static let idempotencyKey = Self("Idempotency-Key")!
    static let prefer = Self("Prefer")!
    static let preferenceApplied = Self("Preference-Applied")!
    static let lastEventID = Self("Last-Event-ID")!
    static let traceParent = Self("traceparent")!
    static let traceState = Self("tracestate")!
    static let requestID = Self("X-Request-Id")!
    static let rateLimit = Self("RateLimit")!
    static let rateLimitPolicy = Self("RateLimit-Policy")!
    static let accelBuffering = Self("X-Accel-Buffering")!
    static let referrerPolicy = Self("Referrer-Policy")!
    static let crossOriginResourcePolicy = Self("Cross-Origin-Resource-Policy")!
    static let secFetchSite = Self("Sec-Fetch-Site")!
    /// Private Network Access: a page from the Internet requests access to a machine in the local network.
    static let accessControlRequestPrivateNetwork = Self("Access-Control-Request-Private-Network")!
    static let accessControlAllowPrivateNetwork = Self("Access-Control-Allow-Private-Network")!
}
