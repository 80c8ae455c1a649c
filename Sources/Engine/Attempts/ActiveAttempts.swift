import CurlClient
import Downloads
import Locks
import Storage

/// The running attempts, by job. The writer's thread adds and removes entries directly after the commit that begins or
/// ends an attempt, so the entries agree with the states in the database.
final class ActiveAttempts: Sendable {
    private struct State {
        var attempts: [JobID: Attempt] = [:]
        /// For each session with attempts: the rate limit that its transfers share, and the number of its attempts.
        var sessions: [Name: (limit: RateLimit, attempts: Int)] = [:]
    }

    /// Set when an attempt begins while no other attempt runs.
    let firstBegun = AsyncAutoResetEvent()
    private let state = Locked(State())
    private let serviceLimit: RateLimit
    private let connections: HostConnections

    init(serviceLimit: RateLimit, connections: HostConnections) {
        self.serviceLimit = serviceLimit
        self.connections = connections
    }

    var count: Int { state.withLock { $0.attempts.count } }
    var all: [Attempt] { state.withLock { Array($0.attempts.values) } }

    /// Sessions with attempts.
    var sessionNames: [Name] { state.withLock { Array($0.sessions.keys) } }

    /// Stops all attempts. Their jobs are queued again.
    func stopAll() {
        for attempt in all { attempt.control.requestStop(.shutdown) }
    }

    subscript(job: JobID) -> Attempt? { state.withLock { $0.attempts[job] } }

    func begin(_ admitted: AdmittedJob, _ services: EngineServices) -> Attempt {
        let session = admitted.job.session
        let limit = join(session)
        limit.bytesPerSecond = admitted.spec.sessionRateLimit
        let attempt = Attempt(admitted, under: [serviceLimit, limit], services)
        let isFirst = state.withLock { state in
            defer { state.attempts[admitted.job.id] = attempt }
            return state.attempts.isEmpty
        }
        if isFirst { firstBegun.set() }
        connections.begin(admitted.job)
        return attempt
    }

    /// Removes an attempt whose end could not be stored.
    func drop(_ attempt: Attempt) {
        if self[attempt.job.id] === attempt { end(attempt.job.id) }
    }

    func end(_ id: JobID) {
        let ended: Job? = state.withLock { state in
            guard let job = state.attempts.removeValue(forKey: id)?.job else { return nil }
            state.sessions[job.session]?.attempts -= 1
            if state.sessions[job.session]?.attempts == 0 { state.sessions[job.session] = nil }
            return job
        }
        if let ended { connections.end(ended) }
    }

    /// Changes the rate limit that the session's transfers share; running transfers use it too. nil: no limit.
    func limit(_ session: Name, to bytesPerSecond: Int64?) {
        state.withLock { $0.sessions[session]?.limit }?.bytesPerSecond = bytesPerSecond
    }

    /// Changes the rate limit that all transfers share. nil: no limit.
    func limitService(to bytesPerSecond: Int64?) { serviceLimit.bytesPerSecond = bytesPerSecond }

    private func join(_ session: Name) -> RateLimit {
        state.withLock { state in
            var entry = state.sessions[session] ?? (RateLimit(bytesPerSecond: nil), 0)
            entry.attempts += 1
            state.sessions[session] = entry
            return entry.limit
        }
    }
}
