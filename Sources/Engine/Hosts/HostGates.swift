import Base
import CurlClient
import Downloads
import Foundation
import HTTPSemantics
import Storage

/// The gates of all hosts (`HostGate`): when requests to each of them may start. Every request of a download asks here, so that all
/// jobs together keep the pace of a host.
///
/// A session that has a rule for a host has a gate of its own there, for its jobs. Their requests pass both gates.
///
/// Admission asks how many jobs may begin with a request to the host. A job that would have to wait longer than `lookahead` stays queued.
/// The job that is admitted waits for its start for at most that time.
final class HostGates: Sendable {
    struct Key: Hashable, Sendable {
        var host: String
        /// nil: the gate for all jobs.
        var session: Name?
    }

    struct Entry {
        var gate = HostGate()
        var rule: HostRule?
        /// Jobs that were admitted and have not sent their first request yet.
        var admitted: Set<JobID> = []
        var lastUse = Duration.zero
        var changedAt = Date(timeIntervalSince1970: 0)
        /// Whether the gate has changed since it was stored.
        var isDirty = false
        /// The starts that were claimed for all services of the database, the first one first.
        var claimed: [Duration] = []
        /// Set when starts are claimed, for the requests that wait for one.
        var wishes: [ObjectIdentifier: AsyncAutoResetEvent] = [:]
    }

    struct State {
        var rules = HostRules()
        var entries: [Key: Entry] = [:]
        /// The gates of jobs that were admitted and have not sent their first request yet.
        var admitted: [JobID: [Key]] = [:]
        /// Gates that have held jobs since the last admission.
        var holding: Set<Key> = []
        /// What the transfers of a host share, where a rule limits their bytes.
        var rateLimits: [Key: RateLimit] = [:]
        var refusals = 0
    }

    /// A request that the gates have let pass.
    struct Passage: Sendable {
        fileprivate var tickets: [(key: Key, ticket: HostGate.Ticket)]
    }

    enum Start {
        case started(Passage)
        /// A gate is closed. nil: until the response to another request.
        case closed(HostGate.Closure?)
        case stopped
    }

    let state = Locked(State())
    let time: ServiceClock
    private let onOpen: @Sendable () -> Void
    private let areShared: Bool
    /// Set when a gate has to be stored.
    let changed = AsyncAutoResetEvent()
    /// Set when starts have to be claimed.
    let claimsDue = AsyncAutoResetEvent()

    static let lookahead = Duration.milliseconds(500)
    /// Gates that are remembered. The one that was used least recently leaves first, but none that is closed.
    static let most = 10_000

    /// - Parameters:
    ///   - areShared: whether other services can share the database, so that starts at intervals are claimed there.
    ///   - onOpen: called when jobs may begin at a host again.
    init(
        rules: HostRules = HostRules(), time: ServiceClock, areShared: Bool = false,
        onOpen: @escaping @Sendable () -> Void
    ) {
        self.time = time
        self.areShared = areShared
        self.onOpen = onOpen
        state.withLock { $0.rules = rules }
    }

    /// Replaces the rules of the service.
    func apply(_ rules: HostRules) {
        state.withLock { state in
            guard rules != state.rules else { return }
            state.rules = rules
            for key in state.entries.keys where key.session == nil { state.entries[key]?.rule = rules[key.host] }
            for (key, limit) in state.rateLimits where key.session == nil {
                limit.bytesPerSecond = rules[key.host]?.rateLimit
            }
        }
    }

    /// The responses that refused a request because of their number.
    var refusals: Int { state.withLock { $0.refusals } }

    /// The connections to a host that a rule of the service allows; nil: it has none.
    func connectionLimit(at host: String) -> Int? { state.withLock { $0.rules[host]?.connections } }
}

extension HostGates {
    /// The rate limits that rules set for the transfers from a host: one of the service, and one of the session.
    func rateLimits(at host: String, of session: Name, _ rules: HostRules) -> [RateLimit] {
        state.withLock { state in
            let limits = [
                (Key(host: host), state.rules[host]?.rateLimit),
                (Key(host: host, session: session), rules[host]?.rateLimit),
            ]
            return limits.compactMap { key, bytesPerSecond in
                guard bytesPerSecond != nil || state.rateLimits[key] != nil else { return nil }
                let limit = state.rateLimits[key] ?? RateLimit(bytesPerSecond: nil)
                limit.bytesPerSecond = bytesPerSecond
                state.rateLimits[key] = limit
                return limit
            }
        }
    }
}

// MARK: - Admission

extension HostGates {
    /// How many jobs of the session may begin now with a request to the host. Where none may, the next admission follows the gate.
    func startsLeft(at host: String, of session: Name, _ rules: HostRules) -> Int {
        let now = time.uptime
        return state.withLock { state in
            state.keys(host, session, rules).reduce(.max) { least, key in
                let entry = state.entries[key] ?? Entry(rule: state.rule(of: key, rules))
                let left = entry.gate.starts(at: now, until: now + Self.lookahead, rule: entry.rule?.requestsPerSecond)
                let free = left == .max ? left : max(0, left - entry.admitted.count)
                if free == 0 { state.holding.insert(key) }
                return min(least, free)
            }
        }
    }

    /// Whether a gate lets no job of the session begin with a request to the host because it is closed, or waits for the response to
    /// its probe; of two such gates, the one that is closed longer. Its time is a whole second, so that it is the same each time.
    func pause(at host: String, of session: Name, _ rules: HostRules) -> AdmissionLimits.Pause? {
        let (now, wall) = (time.uptime, time.now)
        let ends = state.withLock { state in
            state.keys(host, session, rules).compactMap { key -> Duration? in
                guard let gate = state.entries[key]?.gate,
                    [.closed, .halfOpen].contains(gate.state(at: now, rule: nil)),
                    gate.starts(at: now, until: now + Self.lookahead, rule: nil) == 0
                else { return nil }
                return gate.earliest(at: now) ?? now
            }
        }
        guard let last = ends.max() else { return nil }
        let until = wall.timeIntervalSince1970 + (last - now) / .seconds(1)
        return AdmissionLimits.Pause(until: last > now ? Date(timeIntervalSince1970: (until - 0.01).rounded(.up)) : nil)
    }

    func admit(_ job: Job, at host: String, _ rules: HostRules) {
        let now = time.uptime
        state.withLock { state in
            let keys = state.keys(host, job.session, rules)
            for key in keys {
                state.remember(key, rules, at: now)
                state.entries[key]?.admitted.insert(job.id)
            }
            state.admitted[job.id] = keys.isEmpty ? nil : keys
        }
    }

    /// The attempt has ended, perhaps before its first request. Its end starts the next admission.
    func end(_ job: JobID) { state.withLock { $0.removeAdmitted(job) } }

    /// When a host that has held jobs may get a request again. Until then no admission is worth while; a response that opens a gate
    /// calls `onOpen`.
    func nextAdmission() -> Date? {
        let (now, wall) = (time.uptime, time.now)
        let next: Duration? = state.withLock { state in
            defer { state.holding = [] }
            return state.holding.compactMap { key in
                guard let entry = state.entries[key], let first = entry.gate.earliest(at: now) else { return nil }
                if let closure = entry.gate.closure(at: now) { return closure.until }
                let rate = entry.gate.rate(at: now, rule: entry.rule?.requestsPerSecond)
                let others = rate.map { Double(entry.admitted.count) / $0 } ?? 0
                return first + .seconds(others) - Self.lookahead
            }.min()
        }
        return next.map { wall.addingTimeInterval(max(0.01, ($0 - now) / .seconds(1))) }
    }
}

extension HostGates.State {
    /// The gates that have something to say about a request of the session.
    fileprivate func keys(_ host: String, _ session: Name, _ rules: HostRules) -> [HostGates.Key] {
        let (all, own) = (HostGates.Key(host: host), HostGates.Key(host: host, session: session))
        let isKnown = entries[all] != nil || self.rules[host] != nil
        return (isKnown ? [all] : []) + (rules[host] == nil ? [] : [own])
    }

    fileprivate mutating func removeAdmitted(_ job: JobID) {
        for key in admitted.removeValue(forKey: job) ?? [] { entries[key]?.admitted.remove(job) }
    }

    fileprivate mutating func remember(_ key: HostGates.Key, _ rules: HostRules, at now: Duration) {
        if entries[key] == nil, entries.count >= HostGates.most { forgetOldest(at: now) }
        let rule = rule(of: key, rules)
        entries[key, default: .init()].lastUse = now
        entries[key]?.rule = rule
    }

    /// - Parameter rules: those of the session.
    fileprivate func rule(of key: HostGates.Key, _ rules: HostRules) -> HostRule? {
        (key.session == nil ? self.rules : rules)[key.host]
    }

    private mutating func forgetOldest(at now: Duration) {
        entries = entries.filter { !$0.value.gate.isForgettable(at: now) || !$0.value.admitted.isEmpty }
        let open = entries.filter { $0.value.gate.closure(at: now) == nil && $0.value.admitted.isEmpty }
            .sorted { $0.value.lastUse < $1.value.lastUse }
        for (key, _) in open.prefix(max(0, entries.count - HostGates.most * 9 / 10)) { entries[key] = nil }
    }
}

// MARK: - Requests

extension HostGates {
    /// Waits for the start of a request.
    ///
    /// - Parameters:
    ///   - rules: those of the job's session.
    ///   - bell: set when the attempt stops.
    func start(
        at host: String, for job: Job, _ rules: HostRules, _ bell: AsyncAutoResetEvent, isStopped: () -> Bool
    ) async -> Start {
        while !isStopped() {
            let now = time.uptime
            switch state.withLock({ $0.start(at: host, for: job, rules, now, claiming: areShared ? bell : nil) }) {
            case .closed(let closure): return .closed(closure)
            case .unclaimed:
                claimsDue.set()
                await bell.wait(until: time.now.addingTimeInterval(Self.claimPatience), by: time)
            case .at(let moment, let passage):
                guard moment > now else { return .started(passage) }
                await wait(until: moment, bell, isStopped)
                let isValid = state.withLock { state in
                    passage.tickets.allSatisfy { state.entries[$0.key]?.gate.isValid($0.ticket) ?? true }
                }
                if isValid, !isStopped() { return .started(passage) }
            }
        }
        return .stopped
    }

    fileprivate enum Given {
        case at(Duration, Passage)
        case closed(HostGate.Closure?)
        case unclaimed
    }

    /// Seconds. A claim takes a commit.
    private static let claimPatience: TimeInterval = 5

    private func wait(until moment: Duration, _ bell: AsyncAutoResetEvent, _ isStopped: () -> Bool) async {
        while !isStopped(), time.uptime < moment {
            // The wall clock counts whole milliseconds.
            let left = max(0.001, (moment - time.uptime) / .seconds(1))
            await bell.wait(until: time.now.addingTimeInterval(left), by: time)
        }
    }

    /// - Parameter answer: what the response says to a gate whose rule has these statuses besides 429.
    /// - Returns: when the job may ask again, if the host has refused the request.
    func receive(
        _ answer: (_ pauseStatuses: [Int]) -> HostGate.Answer, _ quota: RequestQuota? = nil, to passage: Passage
    ) -> Date? {
        let (now, wall) = (time.uptime, time.now)
        var until: Duration?
        var opens = false
        var closes = false
        state.withLock { state in
            for (key, ticket) in passage.tickets {
                guard var entry = state.entries[key] else { continue }
                let (before, closures) = (entry.gate.state(at: now, rule: nil), entry.gate.closures)
                let answer = answer(state.pauseStatuses(of: key))
                entry.gate.receive(answer, quota, to: ticket, at: now, jitter: .random(in: 0...1))
                if entry.gate.closures != closures {
                    entry.markChanged(key, at: wall)
                    closes = true
                }
                state.entries[key] = entry
                let after = entry.gate.state(at: now, rule: nil)
                if after != before, after != .closed { opens = true }
                if case .refused = answer { until = max(until ?? now, entry.gate.closure(at: now)?.until ?? now) }
            }
            if until != nil { state.refusals += 1 }
        }
        if closes { changed.set() }
        if opens { onOpen() }
        return until.map { wall.addingTimeInterval(max(0, ($0 - now) / .seconds(1))) }
    }

    /// A client has resumed jobs of these hosts: where a gate is closed, the next request starts now.
    func probe(_ hosts: Set<String>) {
        let (now, wall) = (time.uptime, time.now)
        guard state.withLock({ $0.open(hosts, at: now, wall) }) else { return }
        changed.set()
        onOpen()
    }

    /// A client wants the next request to start now.
    ///
    /// - Returns: the gate as it has to be stored; nil if the host is not known.
    func open(_ host: String) -> StoredHost? {
        let (now, wall) = (time.uptime, time.now)
        return state.withLock { state in
            _ = state.open([host], at: now, wall)
            state.entries[Key(host: host)]?.changedAt = wall
            // The caller stores it.
            state.entries[Key(host: host)]?.isDirty = false
            return state.entries[Key(host: host)].map {
                StoredHost(host, $0.gate.stored(at: now), changedAt: wall, uptime: now, now: wall)
            }
        }
    }
}

extension HostGates.Entry {
    /// The gate of a session is not stored.
    fileprivate mutating func markChanged(_ key: HostGates.Key, at now: Date) {
        changedAt = now
        isDirty = key.session == nil
    }
}

extension HostGates.State {
    /// A session's statuses come beside those of the service.
    fileprivate func pauseStatuses(of key: HostGates.Key) -> [Int] {
        let ofService = rules[key.host]?.pauseStatuses ?? []
        return key.session == nil ? ofService : ofService + (entries[key]?.rule?.pauseStatuses ?? [])
    }

    /// - Returns: whether one of the gates was closed.
    fileprivate mutating func open(_ hosts: Set<String>, at now: Duration, _ wall: Date) -> Bool {
        let closed = entries.filter { hosts.contains($0.key.host) && $0.value.gate.closure(at: now) != nil }.keys
        for key in closed {
            entries[key]?.gate.open()
            entries[key]?.markChanged(key, at: wall)
        }
        return !closed.isEmpty
    }

    /// The job's first request starts, or is held off.
    private mutating func endAdmission(of job: Job, at host: String) {
        if admitted[job.id]?.first?.host == host { removeAdmitted(job.id) }
    }

    fileprivate mutating func start(
        at host: String, for job: Job, _ rules: HostRules, _ now: Duration, claiming bell: AsyncAutoResetEvent?
    ) -> HostGates.Given {
        var keys = [HostGates.Key(host: host)]
        if rules[host] != nil { keys.append(.init(host: host, session: job.session)) }
        for key in keys { remember(key, rules, at: now) }
        // No gate gives a start that another one refuses.
        for gate in keys.compactMap({ entries[$0]?.gate }) {
            let closure = gate.closure(at: now)
            guard closure == nil, gate.earliest(at: now) != nil else {
                endAdmission(of: job, at: host)
                return .closed(closure)
            }
        }
        if let bell, !areClaimed(keys, at: now, bell) { return .unclaimed }
        endAdmission(of: job, at: host)
        var moment = now
        var tickets: [(HostGates.Key, HostGate.Ticket)] = []
        for key in keys {
            let rule = entries[key]?.rule?.requestsPerSecond
            if let claimed = entries[key]?.takeClaimed() { moment = max(moment, claimed) }
            guard case .at(let start, let ticket)? = entries[key]?.gate.start(at: moment, rule: rule) else { continue }
            moment = max(moment, start)
            tickets.append((key, ticket))
        }
        return .at(moment, HostGates.Passage(tickets: tickets))
    }
}

// MARK: - The database and the API

extension HostGates {
    func views() -> [HostView] {
        let (now, wall) = (time.uptime, time.now)
        func date(_ moment: Duration) -> Date { wall.addingTimeInterval((moment - now) / .seconds(1)) }
        return state.withLock { state in
            state.entries.filter { $0.key.session == nil }.map { key, entry in
                let (closure, next) = (entry.gate.closure(at: now), entry.gate.earliest(at: now))
                let rule = entry.rule?.requestsPerSecond
                return HostView(
                    host: key.host, state: entry.gate.state(at: now, rule: rule),
                    closedUntil: (closure?.until).map(date), reason: closure?.reason, status: closure?.status,
                    requestsPerSecond: entry.gate.rate(at: now, rule: rule),
                    nextStart: next.flatMap { $0 > now ? date($0) : nil })
            }
        }
    }

    /// The gates that have changed since the last call.
    func consumeChanged() -> [StoredHost] {
        let (now, wall) = (time.uptime, time.now)
        return state.withLock { state in
            let dirty = state.entries.filter(\.value.isDirty)
            for key in dirty.keys { state.entries[key]?.isDirty = false }
            return dirty.map { key, entry in
                StoredHost(key.host, entry.gate.stored(at: now), changedAt: entry.changedAt, uptime: now, now: wall)
            }
        }
    }

    /// The database has not taken them.
    func markChanged(_ hosts: [StoredHost]) {
        state.withLock { state in for host in hosts { state.entries[Key(host: host.host)]?.isDirty = true } }
        changed.set()
    }

    /// Takes over the stored gates that are newer than those in memory.
    func restore(_ hosts: [StoredHost]) {
        let (now, wall) = (time.uptime, time.now)
        state.withLock { state in
            for host in hosts {
                let key = Key(host: host.host)
                guard state.entries[key].map({ $0.changedAt < host.changedAt }) ?? true else { continue }
                var entry = state.entries[key] ?? Entry(rule: state.rules[key.host])
                entry.gate = HostGate(host.gate(uptime: now, now: wall))
                entry.changedAt = host.changedAt
                entry.lastUse = now
                state.entries[key] = entry
            }
        }
    }
}
