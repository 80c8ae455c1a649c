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
    var status: HTTPResponse.Status {
        switch self {
        case .malformedRequest, .malformedJSON: .badRequest
        case .unauthorized: .unauthorized
        case .forbidden, .foreignOrigin: .forbidden
        case .notFound: .notFound
        case .methodNotAllowed: .methodNotAllowed
        case .stateConflict, .sessionFinishing: .conflict
        case .fileGone, .eventsPruned: .gone
        case .preconditionFailed: .preconditionFailed
        case .headTooLarge: .requestHeaderFieldsTooLarge
        case .bodyTooLarge: .contentTooLarge
        case .unsupportedMediaType: .unsupportedMediaType
        case .rangeNotSatisfiable: .rangeNotSatisfiable
        case .misdirectedRequest: .misdirectedRequest
        case .invalidValue, .unknownField, .missingField, .unknownSession, .idempotencyKeyReused, .answerTooLarge:
            .unprocessableContent
        case .quotaExceeded: .tooManyRequests
        case .notImplemented: .notImplemented
        case .internalError: .internalServerError
        case .unavailable, .outOfSpace: .serviceUnavailable
        }
    }

    var title: String {
        switch self {
        case .malformedRequest: "The request is malformed"
        case .malformedJSON: "The body is not JSON"
        case .unauthorized: "A token is needed"
        case .forbidden: "The token does not allow it"
        case .foreignOrigin: "Pages of this origin are not allowed"
        case .notFound: "There is no such thing"
        case .methodNotAllowed: "The method is not allowed here"
        case .stateConflict: "The state does not allow it"
        case .sessionFinishing: "The session was deleted"
        case .fileGone: "The file is gone"
        case .eventsPruned: "The events are gone"
        case .preconditionFailed: "It has changed meanwhile"
        case .headTooLarge: "The request head is too large"
        case .bodyTooLarge: "The body is too large"
        case .unsupportedMediaType: "The body must be JSON"
        case .rangeNotSatisfiable: "The range lies outside the file"
        case .misdirectedRequest: "The Host is not one of this service's names"
        case .invalidValue: "A value is not valid"
        case .unknownField: "A field is not known"
        case .missingField: "A field is missing"
        case .unknownSession: "The session is not declared"
        case .idempotencyKeyReused: "The key was used for another request"
        case .quotaExceeded: "The token may not use more"
        case .notImplemented: "Not implemented"
        case .internalError: "fetchd failed"
        case .unavailable: "Not available now"
        case .outOfSpace: "The disk is full"
        case .answerTooLarge: "The answer is too large"
        }
    }
}
