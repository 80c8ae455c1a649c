import Downloads
import Engine
import Formats
import HTTPServer
import HTTPTypes
import Storage

/// Why a request was not carried out, as an RFC 9457 problem document: the body of every error response.
struct Problem: Error, Sendable {
    var kind: Kind
    /// The cause, and what the user can do about it.
    var detail: String
    /// A JSON Pointer (RFC 6901) into the body of the request; nil when no member is at fault.
    var pointer: String?
    var members = JSONObject()
    var headers: HTTPFields

    init(_ kind: Kind, _ detail: String, at pointer: String? = nil, headers: HTTPFields = [:]) {
        self.kind = kind
        self.detail = detail
        self.pointer = pointer
        self.headers = headers
    }

    /// - Parameter seconds: after which the client may try again.
    static func unavailable(_ detail: String, retryAfter seconds: Int = 1) -> Problem {
        Problem(.unavailable, detail, headers: [.retryAfter: "\(seconds)"])
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

    /// Other answers, which their clients have not read, take the memory.
    static let tooManyAnswers = unavailable(
        "Answers that were not read yet take too much memory. Try again in a second.")

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
        case .unsupportedMediaType: (.unsupportedMediaType, "The type of the body is not supported")
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

/// Maps the errors of the lower layers to problem documents. Only this file does so.
extension Problem {
    init(_ error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let error as StoreError: self.init(error)
        case is SignalRefusal: self.init(.stateConflict, "The state of the job does not allow the action.")
        case EngineError.fileOutOfReach: self.init(.stateConflict, "\(error)")
        case EngineError.bucketUnusable: self = .unavailable("\(error)", retryAfter: 5)
        case EngineError.stopped: self = .unavailable(EngineError.stopped.description)
        case is CancellationError: self.init(.answerOverdue)
        default: self.init(.internalError, "An unexpected error: \(error).")
        }
    }

    /// - Parameter pointer: to the member of the request that has the number of an event which does not exist yet.
    static func naming<Value>(_ pointer: (EventID) -> String, _ act: () async throws -> Value) async throws -> Value {
        do {
            return try await act()
        } catch let error as StoreError {
            var problem = Problem(error)
            if case .noSuchEvent(let event, _) = error { problem.pointer = pointer(event) }
            throw problem
        }
    }

    init(_ error: StoreError) {
        switch error {
        case .noSuchSession, .noSuchJob, .noSuchWebhook, .noSuchConsumer, .noSuchDelivery, .noSuchToken, .noSuchNode:
            self.init(.notFound, error.description)
        case .unknownSession(_, let index):
            self.init(.unknownSession, error.description, at: "/jobs/\(index)/session")
        case .sessionFinishing(_, let index):
            self.init(.sessionFinishing, error.description, at: index.map { "/jobs/\($0)/session" })
        case .sessionPermanent, .nodeInUse, .webhookDisabled, .webhookGone, .fieldsFixed, .moveRefused, .gidTaken,
            .answerLost, .webhookSecretsLost, .importRunning, .importEnded, .tooManyConsumers:
            self.init(.stateConflict, error.description)
        case .consumerOfOthers: self.init(.forbidden, error.description)
        case .placeholderUnknown(let header):
            self.init(.invalidValue, error.description, at: "/headers/" + header.replacing("~", with: "~0"))
        case .noSuchEvent: self.init(.invalidValue, error.description)
        case .eventsPruned(_, let first), .eventsLost(_, let first):
            self.init(.eventsPruned, error.description)
            members["first_available"] = .integer(first)
        case .noResumeData(_, _, let index):
            self.init(.stateConflict, error.description, at: "/jobs/\(index)/resume_from")
        case .revisionChanged, .sessionChanged: self.init(.preconditionFailed, error.description)
        case .quotaExceeded(let quota): self.init(quota)
        case .idempotencyKeyReused: self.init(.idempotencyKeyReused, error.description)
        case .outOfSpace: self.init(.outOfSpace, error.description, headers: [.retryAfter: "30"])
        case .busy, .diskFailed, .databaseAway, .databaseInUse, .nodeReplaced, .changesLost:
            self = .unavailable(error.description, retryAfter: 5)
        case .folderUnusable, .folderInUse, .folderNotPrivate, .databaseUnreadable, .databaseFromNewerVersion,
            .databaseFromOlderVersion, .databaseIncomplete, .databaseDamaged, .markUnreadable, .restoreUnfinished,
            .copyUnusable, .backupFailed, .notClosed, .failed,
            .keyUnusable, .keyWrong, .sealBroken, .serverUnsuitable:
            self.init(.internalError, error.description)
        }
    }

    init(_ fault: RequestFault) {
        switch fault.status {
        case .badRequest: self.init(.malformedRequest, fault.description)
        case .notImplemented: self.init(.notImplemented, fault.description)
        case .requestHeaderFieldsTooLarge: self.init(.headTooLarge, fault.description)
        case .contentTooLarge: self.init(.bodyTooLarge, fault.description)
        default: self = .unavailable(fault.description)
        }
    }

    init(refused job: Job, _ action: JobSignal.Action, allowed: [JobState.Kind]) {
        let promoting = job.state.finalizePlan != nil ? " (its file is being promoted)" : ""
        let states = allowed.map(\.rawValue).joined(separator: ", ")
        self.init(
            .stateConflict,
            "Job \(job.id) is \(job.state.name.rawValue)\(promoting); \(action.rawValue) is possible from: \(states).")
    }

    /// With `Retry-After`, and the fields of draft-ietf-httpapi-ratelimit-headers-10.
    init(_ quota: ExceededQuota) {
        self.init(.quotaExceeded, quota.description)
        let (name, limit, left, window, seconds): (String, Int64, Int, Int?, Int) =
            switch quota {
            case .outstandingJobs(let limit, let left, _):
                ("outstanding-jobs", Int64(limit), left, nil, Self.usualWait)
            case .bytesPerDay(let limit, let seconds): ("bytes-per-day", limit, 0, 86_400, seconds)
            case .requestsPerSecond(let limit, let seconds):
                ("requests-per-second", Int64(limit), 0, 1, Int(seconds.rounded(.up)))
            }
        headers[.retryAfter] = "\(max(1, seconds))"
        headers[.rateLimitPolicy] = "\"\(name)\";q=\(limit)" + (window.map { ";w=\($0)" } ?? "")
        headers[.rateLimit] = "\"\(name)\";r=\(left);t=\(max(1, seconds))"
    }

    /// Seconds. The end of a job has no known time.
    private static let usualWait = 30
}
