import Downloads
import Engine
import HTTPServer
import HTTPTypes
import Storage

/// Maps the errors of the lower layers to problem documents. Only this file does so.
extension Problem {
    init(_ error: any Error) {
        switch error {
        case let problem as Problem: self = problem
        case let error as StoreError: self.init(error)
        case EngineError.stopped:
            self.init(.unavailable, EngineError.stopped.description)
            headers[.retryAfter] = "1"
        case is CancellationError: self.init(.answerOverdue)
        default: self.init(.internalError, "An unexpected error: \(error).")
        }
    }

    init(_ error: StoreError) {
        switch error {
        case .noSuchSession, .noSuchJob, .noSuchWebhook, .noSuchDelivery, .noSuchToken, .noSuchNode:
            self.init(.notFound, error.description)
        case .unknownSession(_, let index):
            self.init(.unknownSession, error.description, at: "/jobs/\(index)/session")
        case .sessionFinishing(_, let index):
            self.init(.sessionFinishing, error.description, at: index.map { "/jobs/\($0)/session" })
        case .sessionPermanent, .nodeInUse, .webhookDisabled, .webhookGone, .fieldsFixed, .moveRefused, .gidTaken,
            .answerLost,
            .webhookSecretsLost:
            self.init(.stateConflict, error.description)
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
        case .outOfSpace:
            self.init(.outOfSpace, error.description)
            headers[.retryAfter] = "30"
        case .busy, .diskFailed, .databaseAway, .databaseInUse, .nodeReplaced, .changesLost:
            self.init(.unavailable, error.description)
            headers[.retryAfter] = "5"
        case .folderUnusable, .folderInUse, .folderNotPrivate, .databaseUnreadable, .databaseFromNewerVersion,
            .databaseFromOlderVersion,
            .databaseIncomplete,
            .databaseDamaged, .markUnreadable, .restoreUnfinished, .copyUnusable, .backupFailed, .notClosed, .failed,
            .keyUnusable, .keyWrong, .sealBroken, .serverUnsuitable:
            self.init(.internalError, error.description)
        }
    }

    init(_ fault: RequestFault) {
        switch fault {
        case .methodInvalid, .targetInvalid, .lineInvalid, .fieldInvalid, .hostMissing, .hostRepeated,
            .contentLengthInvalid, .framingAmbiguous:
            self.init(.malformedRequest, fault.description)
        case .transferEncodingUnsupported: self.init(.notImplemented, fault.description)
        case .headTooLarge, .tooManyFields: self.init(.headTooLarge, fault.description)
        case .bodyTooLarge: self.init(.bodyTooLarge, fault.description)
        case .bodiesTooLarge, .tooManyWebSockets, .answerOverdue, .stopping:
            self.init(.unavailable, fault.description)
            headers[.retryAfter] = "1"
        }
    }

    /// A 409 that lists the states from which the action is possible.
    init(refused job: Job, _ action: JobSignal.Action, allowed: [JobState.Name]) {
        let promoting = job.state.promotion != nil ? " (its file is being promoted)" : ""
        let states = allowed.map(\.rawValue).joined(separator: ", ")
        self.init(
            .stateConflict,
            "Job \(job.id) is \(job.state.name.rawValue)\(promoting); \(action.rawValue) is possible from: \(states).")
    }
}

/// Maps an exceeded quota to a 429.
extension Problem {
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

extension HTTPField.Name {
    static let rateLimit = Self("RateLimit")!
    static let rateLimitPolicy = Self("RateLimit-Policy")!
}
