import Formats
import HTTPServer
import HTTPTypes

/// Why a request was not carried out, as an RFC 9457 problem document: the body of every error response.
struct Problem: Error, Sendable {
    var kind: Kind
    /// The cause, and what the user can do about it.
    var detail: String
    /// A JSON Pointer (RFC 6901) into the body of the request; nil when no member is at fault.
    var pointer: String?
    /// The members that only this kind of problem has.
    var members = JSONObject()
    var headers: HTTPFields = [:]

    init(_ kind: Kind, _ detail: String, at pointer: String? = nil) {
        self.kind = kind
        self.detail = detail
        self.pointer = pointer
    }

    /// The kinds of problems. The name is the last component of `type`, and is stable.
    enum Kind: String, Sendable, CaseIterable {
        case malformedRequest = "malformed-request"
        case malformedJSON = "malformed-json"
        case unauthorized
        case forbidden
        case foreignOrigin = "foreign-origin"
        case notFound = "not-found"
        case methodNotAllowed = "method-not-allowed"
        case stateConflict = "state-conflict"
        case sessionFinishing = "session-finishing"
        case fileGone = "file-gone"
        case eventsPruned = "events-pruned"
        case preconditionFailed = "precondition-failed"
        case headTooLarge = "head-too-large"
        case bodyTooLarge = "body-too-large"
        case unsupportedMediaType = "unsupported-media-type"
        case rangeNotSatisfiable = "range-not-satisfiable"
        case misdirectedRequest = "misdirected-request"
        case invalidValue = "invalid-value"
        case unknownField = "unknown-field"
        case missingField = "missing-field"
        case unknownSession = "unknown-session"
        case quotaExceeded = "quota-exceeded"
        case idempotencyKeyReused = "idempotency-key-reused"
        case notImplemented = "not-implemented"
        case internalError = "internal-error"
        case unavailable
        case outOfSpace = "out-of-space"
        case answerTooLarge = "answer-too-large"
    }
}

extension Problem {
    /// Other answers, which their clients have not read, take the memory.
    static var tooManyAnswers: Problem {
        var problem = Problem(
            .unavailable, "Answers that were not read yet take too much memory. Try again in a second.")
        problem.headers[.retryAfter] = "1"
        return problem
    }

    var response: Response {
        var document: JSONObject = [
            "type": .string("/problems/\(kind.rawValue)"), "title": .string(kind.title),
            "status": .count(kind.status.code), "detail": .string(detail),
        ]
        if let pointer { document["pointer"] = .string(pointer) }
        for (name, value) in members.members { document[name] = value }
        var headers = headers
        headers[.contentType] = "application/problem+json"
        return Response(status: kind.status, headers: headers, body: .bytes(JSON.object(document).line))
    }
}

extension Problem.Kind {
    var status: HTTPResponse.Status { description.status }
    var title: String { description.title }

    private var description: (status: HTTPResponse.Status, title: String) {
        switch self {
        case .malformedRequest: (.badRequest, "The request is malformed")
        case .malformedJSON: (.badRequest, "The body is not JSON")
        case .unauthorized: (.unauthorized, "A token is needed")
        case .forbidden: (.forbidden, "The token does not allow it")
        case .foreignOrigin: (.forbidden, "Pages of this origin are not allowed")
        case .notFound: (.notFound, "There is no such thing")
        case .methodNotAllowed: (.methodNotAllowed, "The method is not allowed here")
        case .stateConflict: (.conflict, "The state does not allow it")
        case .sessionFinishing: (.conflict, "The session was deleted")
        case .fileGone: (.gone, "The file is gone")
        case .eventsPruned: (.gone, "The events are gone")
        case .preconditionFailed: (.preconditionFailed, "It has changed meanwhile")
        case .headTooLarge: (.requestHeaderFieldsTooLarge, "The request head is too large")
        case .bodyTooLarge: (.contentTooLarge, "The body is too large")
        case .unsupportedMediaType: (.unsupportedMediaType, "The body must be JSON")
        case .rangeNotSatisfiable: (.rangeNotSatisfiable, "The range lies outside the file")
        case .misdirectedRequest: (.misdirectedRequest, "The Host is not one of this service's names")
        case .invalidValue: (.unprocessableContent, "A value is not valid")
        case .unknownField: (.unprocessableContent, "A field is not known")
        case .missingField: (.unprocessableContent, "A field is missing")
        case .unknownSession: (.unprocessableContent, "The session is not declared")
        case .quotaExceeded: (.tooManyRequests, "The token may not use more")
        case .idempotencyKeyReused: (.unprocessableContent, "The key was used for another request")
        case .notImplemented: (.notImplemented, "Not implemented")
        case .internalError: (.internalServerError, "fetchd failed")
        case .unavailable: (.serviceUnavailable, "Not available now")
        case .outOfSpace: (.serviceUnavailable, "The disk is full")
        case .answerTooLarge: (.unprocessableContent, "The answer is too large")
        }
    }

    /// Whether the audit log counts requests that are refused for this reason.
    var isAudited: Bool {
        [.unauthorized, .forbidden, .foreignOrigin, .misdirectedRequest, .quotaExceeded].contains(self)
    }
}
