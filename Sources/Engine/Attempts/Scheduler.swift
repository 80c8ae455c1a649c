import Base
import CurlClient
import Downloads
import Foundation
import HTTPSemantics
import Storage

/// Admits jobs. When a commit makes jobs due, or a wait ends, the scheduler fills the free slots with jobs.
///
/// Queued jobs are not held in memory: each is a row in the database.
struct Scheduler: Sendable {
    let services: EngineServices
    /// The present limits, without the connections that are taken.
    let limits: @Sendable () -> AdmissionLimits
    /// Called on the writer's thread, directly after the commit that admits the job.
    let start: @Sendable (AdmittedJob) -> Void

    func pass() async throws -> Date? {
        // No slot is free. The end of an attempt starts the next pass.
        guard services.active.count < limits().jobs else { return nil }
        // Every attempt would fail now. FolderMonitor starts the next pass when a folder works again.
        guard services.locations.anyWorks else { return nil }
        let taken = services.connections.beginAdmission()
        defer { services.connections.endAdmission() }
        let presentLimits: @Sendable () -> AdmissionLimits = { [limits] in limits().with(taken) }
        let next = try await services.store.admitJobs(presentLimits) { $0.forEach(start) }.nextWaitEnds
        return [next, services.gates.nextAdmission()].compactMap(\.self).min()
    }
}

/// The running attempts, by job. The writer's thread adds and removes entries directly after the commit that begins or
/// ends an attempt, so the entries agree with the states in the database.
final class ActiveAttempts: Sendable {
    private struct State {
        var attempts: [JobID: Attempt] = [:]
        var sessions: [Name: SharedLimit] = [:]
        var service: SharedLimit
        /// The part of the limits of sessions that this service may use, if other services run jobs of them.
        var shares: [Name: Double] = [:]
        var serviceShare: Double?
    }

    private let state: Locked<State>
    private let serviceLimit: RateLimit
    private let connections: HostConnections
    private let gates: HostGates

    init(serviceLimit: RateLimit, connections: HostConnections, gates: HostGates) {
        self.gates = gates
        self.serviceLimit = serviceLimit
        state = Locked(State(service: SharedLimit(limit: serviceLimit, whole: serviceLimit.bytesPerSecond)))
        self.connections = connections
    }

    var count: Int { state.withLock { $0.attempts.count } }
    var all: [Attempt] { state.withLock { Array($0.attempts.values) } }

    var sessionNames: [Name] { state.withLock { Array($0.sessions.keys) } }

    func stopAll() { for attempt in all { attempt.control.requestStop(.shutdown) } }

    var reports: [RunningJob] { all.map { RunningJob(job: $0.job.id, session: $0.job.session, live: $0.control.live) } }

    subscript(job: JobID) -> Attempt? { state.withLock { $0.attempts[job] } }

    func attempt(of job: JobID, admission: Int?) -> Attempt? {
        guard let attempt = self[job], attempt.job.admissions == admission else { return nil }
        return attempt
    }

    func begin(_ admitted: AdmittedJob, _ services: EngineServices) -> Attempt {
        let session = admitted.job.session
        let limit = acquireLimit(of: session, admitted.spec.sessionRateLimit)
        let host = URLRule.hostAndPort(of: admitted.job.url)
        let ofHost = gates.rateLimits(at: host, of: session, admitted.spec.hostRules)
        let attempt = Attempt(admitted, at: host, under: [serviceLimit, limit] + ofHost, services)
        // If the answer to a commit was lost, the former attempt may not know yet that its end is stored.
        if let former = self[admitted.job.id] { remove(former) }
        let isFirst = state.withLock { state in
            defer { state.attempts[admitted.job.id] = attempt }
            return !state.attempts.values.contains { $0.location === attempt.location }
        }
        if isFirst { attempt.location.firstBegun.set() }
        connections.begin(at: host, of: session)
        gates.admit(admitted.job, at: host, admitted.spec.hostRules)
        return attempt
    }

    /// Removes the attempt, unless the job has another one by now.
    func remove(_ attempt: Attempt) {
        let job = attempt.job
        let isPresent = state.withLock { state in
            guard state.attempts[job.id] === attempt else { return false }
            state.attempts[job.id] = nil
            state.sessions[job.session]?.attempts -= 1
            if state.sessions[job.session]?.attempts == 0 { state.sessions[job.session] = nil }
            return true
        }
        guard isPresent else { return }
        connections.end(at: attempt.host, of: job.session)
        gates.end(job.id)
    }

    /// Called on the writer's thread, directly after the commit that ends the attempt.
    func end(_ job: JobID, admission: Int?) {
        if let attempt = attempt(of: job, admission: admission) { remove(attempt) }
    }

    /// Changes the rate limit that the session's transfers share; running transfers use it too. nil: no limit.
    func limit(_ session: Name, to bytesPerSecond: Int64?) {
        state.withLock { $0.sessions[session]?.set(bytesPerSecond, $0.shares[session]) }
    }

    /// Changes the rate limit that all transfers share. nil: no limit.
    func limitService(to bytesPerSecond: Int64?) { state.withLock { $0.service.set(bytesPerSecond, $0.serviceShare) } }

    /// Divides the limits among the services of the database, as their jobs are.
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

    private func acquireLimit(of session: Name, _ bytesPerSecond: Int64?) -> RateLimit {
        state.withLock { state in
            var entry = state.sessions[session] ?? SharedLimit(limit: RateLimit(bytesPerSecond: nil))
            entry.attempts += 1
            entry.set(bytesPerSecond, state.shares[session])
            state.sessions[session] = entry
            return entry.limit
        }
    }
}

/// A rate limit of a session or of the service, of which this service uses a part while others have transfers under the
/// same limit.
struct SharedLimit: Sendable {
    /// What the transfers of this service share.
    let limit: RateLimit
    /// Bytes per second of all services together; nil: no limit.
    private(set) var whole: Int64?
    /// The attempts of this service under the limit.
    var attempts = 0

    init(limit: RateLimit, whole: Int64? = nil) {
        self.limit = limit
        self.whole = whole
    }

    /// - Parameter share: the part of this service, from 0 to 1. nil: the whole limit. 0, too: its attempts are not counted yet.
    mutating func set(_ whole: Int64?, _ share: Double?) {
        self.whole = whole
        limit.bytesPerSecond = whole.map { max(1, Int64(Double($0) * (share.flatMap { $0 > 0 ? $0 : nil } ?? 1))) }
    }
}
