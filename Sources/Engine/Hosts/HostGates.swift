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

    fileprivate struct Entry {
        var gate = HostGate()
        var rule: HostRule?
        /// Jobs that were admitted and have not sent their first request yet.
        var admitted: Set<JobID> = []
        var lastUse = Duration.zero
        var changedAt = Date(timeIntervalSince1970: 0)
        /// Whether the gate has changed since it was stored.
        var isDirty = false
    }

    fileprivate struct State {
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

    private let state = Locked(State())
    private let time: ServiceClock
    private let onOpen: @Sendable () -> Void
    /// Set when a gate has to be stored.
    let changed = AsyncAutoResetEvent()

    static let lookahead = Duration.milliseconds(500)
    /// Gates that are remembered. The one that was used least recently leaves first, but none that is closed.
    static let most = 10_000

    /// - Parameter onOpen: called when jobs may begin at a host again.
    init(rules: HostRules = HostRules(), time: ServiceClock, onOpen: @escaping @Sendable () -> Void) {
        self.time = time
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
    /// How many jobs of the session may begin now with a request to the host.
    func startsLeft(at host: String, of session: Name, _ rules: HostRules) -> Int {
        let now = time.uptime
        return state.withLock { state in
            state.keys(host, session, rules).reduce(.max) { least, key in
                let entry = state.entries[key] ?? Entry(rule: key.session == nil ? state.rules[host] : rules[host])
                let left = entry.gate.starts(at: now, until: now + Self.lookahead, rule: entry.rule?.requestsPerSecond)
                let free = left == .max ? left : max(0, left - entry.admitted.count)
                if free == 0 { state.holding.insert(key) }
                return min(least, free)
            }
        }
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
        entries[key, default: .init()].lastUse = now
        entries[key]?.rule = key.session == nil ? self.rules[key.host] : rules[key.host]
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
            switch state.withLock({ $0.start(at: host, for: job, rules, now) }) {
            case .closed(let closure): return .closed(closure)
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
    }

    private func wait(until moment: Duration, _ bell: AsyncAutoResetEvent, _ isStopped: () -> Bool) async {
        while !isStopped(), time.uptime < moment {
            let left = (moment - time.uptime) / .seconds(1)
            await bell.wait(until: time.now.addingTimeInterval(left), by: time)
        }
    }

    /// - Parameters:
    ///   - answer: what the response says to a gate whose rule has these statuses besides 429.
    /// - Returns: when the job may ask again, if the host has refused the request.
    func receive(
        _ answer: (_ pauseStatuses: [Int]) -> HostGate.Answer, _ quota: RequestQuota? = nil, to passage: Passage
    ) -> Date? {
        let (now, wall) = (time.uptime, time.now)
        var (until, opens, isDirty): (Duration?, Bool, Bool) = (nil, false, false)
        state.withLock { state in
            for (key, ticket) in passage.tickets {
                guard var entry = state.entries[key] else { continue }
                let (before, closures) = (entry.gate.state(at: now, rule: nil), entry.gate.closures)
                let said = answer((state.rules[key.host]?.pauseStatuses ?? []) + (entry.rule?.pauseStatuses ?? []))
                let own = key.session == nil ? answer(state.rules[key.host]?.pauseStatuses ?? []) : said
                entry.gate.receive(own, quota, to: ticket, at: now, jitter: .random(in: 0...1))
                if entry.gate.closures != closures {
                    entry.isDirty = key.session == nil
                    entry.changedAt = wall
                }
                state.entries[key] = entry
                let after = entry.gate.state(at: now, rule: nil)
                opens = opens || before != after && (after == .open || after == .pacing || after == .halfOpen)
                isDirty = isDirty || entry.isDirty
                if case .refused = own { until = max(until ?? now, entry.gate.closure(at: now)?.until ?? now) }
            }
        }
        if until != nil { state.withLock { $0.refusals += 1 } }
        if isDirty { changed.set() }
        if opens { onOpen() }
        return until.map { wall.addingTimeInterval(max(0, ($0 - now) / .seconds(1))) }
    }

    /// A client has resumed jobs that wait for these hosts: the next request to each of them starts now.
    func probe(_ hosts: [String]) {
        let opened = hosts.filter { open($0) != nil }
        guard !opened.isEmpty else { return }
        state.withLock { state in for host in opened { state.entries[Key(host: host)]?.isDirty = true } }
        changed.set()
        onOpen()
    }

    /// A client wants the next request to start now.
    ///
    /// - Returns: the gate as it has to be stored; nil if the host is not known.
    func open(_ host: String) -> StoredHost? {
        let (now, wall) = (time.uptime, time.now)
        return state.withLock { state in
            for key in state.entries.keys where key.host == host {
                if state.entries[key]?.gate.state(at: now, rule: nil) == .closed { state.entries[key]?.gate.open() }
            }
            guard var entry = state.entries[Key(host: host)] else { return nil }
            entry.changedAt = wall
            state.entries[Key(host: host)] = entry
            return StoredHost(host, entry.gate.stored(at: now), changedAt: wall, uptime: now, now: wall)
        }
    }
}

extension HostGates.State {
    fileprivate mutating func start(
        at host: String, for job: Job, _ rules: HostRules, _ now: Duration
    ) -> HostGates.Given {
        if admitted[job.id]?.first?.host == host { removeAdmitted(job.id) }
        var keys = [HostGates.Key(host: host)]
        if rules[host] != nil { keys.append(.init(host: host, session: job.session)) }
        for key in keys { remember(key, rules, at: now) }
        // No gate gives a start that another one refuses.
        for key in keys {
            guard let gate = entries[key]?.gate else { continue }
            let isOpen = gate.earliest(at: now).map { _ in gate.closure(at: now) == nil } ?? false
            if !isOpen { return .closed(gate.closure(at: now)) }
        }
        var (moment, tickets): (Duration, [(HostGates.Key, HostGate.Ticket)]) = (now, [])
        for key in keys {
            guard let rule = entries[key]?.rule?.requestsPerSecond as Double??,
                case .at(let start, let ticket)? = entries[key]?.gate.start(at: moment, rule: rule)
            else { continue }
            moment = max(moment, start)
            tickets.append((key, ticket))
        }
        return .at(moment, HostGates.Passage(tickets: tickets))
    }
}

// MARK: - The database and the API

/// A host as `GET /v1/hosts` shows it.
public struct HostView: Sendable, Equatable {
    public var host: String
    public var state: HostGate.State
    public var closedUntil: Date?
    public var reason: HostGate.Reason?
    public var status: Int?
    /// The learned rate, or that of the server's quota; nil: any number.
    public var requestsPerSecond: Double?
    /// nil: now, or after the response to a request.
    public var nextStart: Date?

    init(
        host: String, state: HostGate.State, closedUntil: Date? = nil, reason: HostGate.Reason? = nil,
        status: Int? = nil,
        requestsPerSecond: Double? = nil, nextStart: Date? = nil
    ) {
        self.host = host
        self.state = state
        self.closedUntil = closedUntil
        self.reason = reason
        self.status = status
        self.requestsPerSecond = requestsPerSecond
        self.nextStart = nextStart
    }
}

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
    func takeChanged() -> [StoredHost] {
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

extension StoredHost {
    fileprivate init(_ host: String, _ gate: HostGate.Stored, changedAt: Date, uptime: Duration, now: Date) {
        func date(_ moment: Duration) -> Date {
            Date(milliseconds: now.addingTimeInterval((moment - uptime) / .seconds(1)).milliseconds)
        }
        self.init(
            host: host, closedUntil: (gate.closure?.until).map(date), reason: gate.closure?.reason,
            status: gate.closure?.status, closuresInARow: gate.closuresInARow,
            learned: gate.learned.map {
                Learned(base: $0.base, since: date($0.since), ceiling: $0.ceiling, repeated: $0.repeated)
            }, changedAt: changedAt)
    }

    fileprivate func gate(uptime: Duration, now: Date) -> HostGate.Stored {
        func moment(_ date: Date) -> Duration { uptime + .seconds(date.timeIntervalSince(now)) }
        let closure = closedUntil.map {
            HostGate.Closure(until: moment($0), reason: reason ?? .refused, status: status)
        }
        return HostGate.Stored(
            closure: closure.flatMap { $0.until > uptime ? $0 : nil }, closuresInARow: closuresInARow,
            learned: learned.map {
                LearnedRate(base: $0.base, since: moment($0.since), ceiling: $0.ceiling, repeated: $0.repeated)
            })
    }
}
