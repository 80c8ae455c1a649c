import Foundation

/// Why a request to the service, or an operation on the client's own files, failed.
public enum FetchdError: Error, Sendable, Equatable {
    /// The service did not answer. It may be stopped, or the address may be wrong.
    case unreachable(String)
    /// The service answered with a problem (RFC 9457).
    case refused(ServiceProblem)
    /// The answer is not one that fetchd gives. Another program may listen at the address.
    case unexpectedAnswer(String)
    /// The caller gave a value that no service accepts.
    case invalid(String)
    /// Another process has opened a session with the same identifier and a delegate.
    case identifierInUse(String)
    /// The journal no longer has the events after the given position. The first event that exists has this number.
    case eventsLost(firstAvailable: Int64)
    /// The client could not read or write its own files.
    case storage(String)
    /// The task that waited was cancelled.
    case cancelled
}

/// A problem document of the service.
public struct ServiceProblem: Sendable, Equatable {
    public let status: Int
    /// A stable URI reference, such as `/problems/session-finishing`.
    public let type: String
    /// One sentence about the kind of problem.
    public let title: String
    /// What happened in this case, and what to do.
    public let detail: String
    /// The member of the request that is wrong, as a JSON Pointer (RFC 6901).
    public let pointer: String?
}

extension FetchdError: CustomStringConvertible, LocalizedError {
    public var errorDescription: String? { description }

    public var description: String {
        switch self {
        case .unreachable(let reason): "The service cannot be reached: \(reason)"
        case .refused(let problem): "The service answered \(problem.status): \(problem.detail)"
        case .unexpectedAnswer(let reason): "The answer is not from fetchd: \(reason)"
        case .invalid(let reason): reason
        case .identifierInUse(let name): "Another process uses the session \(name)."
        case .eventsLost(let first): "Events are missing: the first that exists is \(first)."
        case .storage(let reason): "The client's files cannot be used: \(reason)"
        case .cancelled: "The operation was cancelled."
        }
    }
}

extension FetchdError {
    /// Whether the same request can succeed later: the service restarts, is overloaded, or is behind a proxy that finds it
    /// stopped.
    var isTemporary: Bool {
        switch self {
        case .unreachable: true
        case .refused(let problem): [429, 502, 503, 504].contains(problem.status)
        case .unexpectedAnswer, .invalid, .identifierInUse, .eventsLost, .storage, .cancelled: false
        }
    }

    /// Whether the job or session does not exist.
    var isMissing: Bool {
        if case .refused(let problem) = self { problem.status == 404 } else { false }
    }

    /// - Throws: `cancelled`.
    static func sleep(for duration: Duration) async throws(FetchdError) {
        do {
            try await Task.sleep(for: duration)
        } catch {
            throw .cancelled
        }
    }
}
