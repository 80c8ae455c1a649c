import CurlClient
import Downloads
import Locks
import Storage

/// The running attempts, by job. The writer's thread adds and removes entries directly after the commit that begins or
/// ends an attempt, so the entries agree with the states in the database.
final class ActiveAttempts: Sendable {
    private struct State {
        var attempts: [JobID: Attempt] = [:]
        var sessions: [Name: SharedLimit] = [:]
        /// Of the service.
        var service: SharedLimit
        /// The part of the limits of sessions that this node may use, if other nodes run jobs of them.
        var shares: [Name: Double] = [:]
        var serviceShare: Double?
    }

    /// Set when an attempt begins while no other attempt runs.
    let firstBegun = AsyncAutoResetEvent()
    private let state: Locked<State>
    private let serviceLimit: RateLimit
    private let connections: HostConnections

    init(serviceLimit: RateLimit, connections: HostConnections) {
        self.serviceLimit = serviceLimit
        state = Locked(State(service: SharedLimit(limit: serviceLimit, whole: serviceLimit.bytesPerSecond)))
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

    /// The live view of every attempt.
    var reports: [RunningJob] {
        all.map { RunningJob(job: $0.job.id, session: $0.job.session, live: $0.live) }
    }

    subscript(job: JobID) -> Attempt? { state.withLock { $0.attempts[job] } }

    /// - Parameter admission: see `Job.admissions`.
    func attempt(of job: JobID, admission: Int) -> Attempt? {
        guard let attempt = self[job], attempt.job.admissions == admission else { return nil }
        return attempt
    }

    func begin(_ admitted: AdmittedJob, _ services: EngineServices) -> Attempt {
        let session = admitted.job.session
        let limit = join(session, admitted.spec.sessionRateLimit)
        let attempt = Attempt(admitted, under: [serviceLimit, limit], services)
        // If the answer to a commit was lost, the former attempt may not know yet that its end is stored.
        if let former = self[admitted.job.id] { drop(former) }
        let isFirst = state.withLock { state in
            defer { state.attempts[admitted.job.id] = attempt }
            return state.attempts.isEmpty
        }
        if isFirst { firstBegun.set() }
        connections.begin(admitted.job)
        return attempt
    }

    /// Removes the attempt, unless the job has another one by now.
    func drop(_ attempt: Attempt) {
        let job = attempt.job
        let isPresent = state.withLock { state in
            guard state.attempts[job.id] === attempt else { return false }
            state.attempts[job.id] = nil
            state.sessions[job.session]?.attempts -= 1
            if state.sessions[job.session]?.attempts == 0 { state.sessions[job.session] = nil }
            return true
        }
        if isPresent { connections.end(job) }
    }

    /// Called on the writer's thread, directly after the commit that ends the attempt.
    ///
    /// - Parameter admission: see `Job.admissions`.
    func end(_ job: JobID, admission: Int) {
        if let attempt = attempt(of: job, admission: admission) { drop(attempt) }
    }

    /// Changes the rate limit that the session's transfers share; running transfers use it too. nil: no limit.
    func limit(_ session: Name, to bytesPerSecond: Int64?) {
        state.withLock { $0.sessions[session]?.set(bytesPerSecond, $0.shares[session]) }
    }

    /// Changes the rate limit that all transfers share. nil: no limit.
    func limitService(to bytesPerSecond: Int64?) {
        state.withLock { $0.service.set(bytesPerSecond, $0.serviceShare) }
    }

    /// Divides the limits among the nodes, as their jobs are.
    func divide(by demand: [Name: NodeExchange.Demand]) {
        state.withLock { state in
            let all = demand.values.reduce(into: NodeExchange.Demand()) { sum, session in
                sum = .init(own: sum.own + session.own, all: sum.all + session.all)
            }
            state.serviceShare = all.share
            state.shares = demand.mapValues(\.share)
            state.service.set(state.service.whole, all.share)
            for (name, session) in state.sessions { state.sessions[name]?.set(session.whole, state.shares[name]) }
        }
    }

    private func join(_ session: Name, _ bytesPerSecond: Int64?) -> RateLimit {
        state.withLock { state in
            var entry = state.sessions[session] ?? SharedLimit(limit: RateLimit(bytesPerSecond: nil))
            entry.attempts += 1
            entry.set(bytesPerSecond, state.shares[session])
            state.sessions[session] = entry
            return entry.limit
        }
    }
}
