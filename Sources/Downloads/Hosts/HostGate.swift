import Foundation
import HTTPSemantics

/// Decides when requests to one host may start, from what its responses say. A value, without a clock and without chance: every
/// function gets the time, as time since the start of the machine.
///
/// | state | requests | left by |
/// |---|---|---|
/// | open | start at once | a refusal; a quota of the server that is used up, or nearly |
/// | pacing | start at intervals: the rule's, those of the server's quota, or learned ones | the same |
/// | closed | none start | the time that the server named, or a backoff |
/// | half open | one starts | its response |
///
/// A request that has started has a ``Ticket``. The response to a request that started before the gate was closed says nothing new:
/// it neither opens the gate nor counts as another refusal, but the time that it names holds.
public struct HostGate: Sendable, Equatable {
    /// Why a gate is closed.
    public enum Reason: String, Sendable, CaseIterable {
        /// The host refused a request: 429, or a status that a rule lists, or a failure with `Retry-After`.
        case refused
        /// The last three responses, to different jobs, were 503.
        case unavailable
        /// The quota that the host reports is used up.
        case quota
    }

    public struct Closure: Sendable, Equatable {
        public var until: Duration
        public var reason: Reason
        /// The status of the response; nil if it was none that refused.
        public var status: Int?

        public init(until: Duration, reason: Reason, status: Int? = nil) {
            self.until = until
            self.reason = reason
            self.status = status
        }
    }

    /// Identifies the times between two closures.
    public struct Ticket: Sendable, Equatable {
        fileprivate var closures: Int
        fileprivate var isProbe: Bool
    }

    public enum Start: Sendable, Equatable {
        /// The request may start at this time, which is not in the past. The time is taken.
        case at(Duration, Ticket)
        /// No request may start before this time; nil: before the response to the one that has started.
        case notBefore(Duration?)
    }

    /// What a response says.
    public enum Answer: Sendable, Equatable {
        /// - Parameter delay: the seconds that the server named; nil if it named none.
        case refused(status: Int, delay: Double?)
        /// 503 without `Retry-After`, to a request of the job.
        case unavailable(JobID)
        /// Any other response.
        case served
        /// There was no response, or its request was cancelled.
        case none

        /// Some servers refuse with 403 when requests come too fast. They say so with a time, or with a quota that is used up.
        ///
        /// - Parameter statuses: other statuses that mean that requests come too fast.
        public init(
            _ facts: ResponseFacts, _ quota: RequestQuota?, to job: JobID, pausingAt statuses: [Int] = [], at now: Date
        ) {
            let named = facts.retryDelay(at: now)
            // A server that allows the next request at once gets a backoff.
            let delay = named.flatMap { $0 > 0 ? $0 : nil }
            switch facts.status {
            case let status where status == 429 || statuses.contains(status),
                let status where status == 403 && (named != nil || quota?.remaining == 0),
                let status where named != nil && Failure.isTemporary(status: status):
                // The server has named both times, so the later one is safe.
                self = .refused(status: status, delay: [delay, quota?.delay].compactMap(\.self).max())
            case 503: self = .unavailable(job)
            default: self = .served
            }
        }
    }

    private enum Phase: Sendable, Equatable {
        case open
        case closed(Closure)
        /// The closure has ended, and the next response decides. `isProbed`: its request has started.
        case halfOpen(isProbed: Bool)
    }

    private var phase = Phase.open
    /// The closures so far.
    public private(set) var closures = 0
    /// Those without a response that was served between them.
    private var closuresInARow = 0
    /// The jobs of the last responses, as long as these were 503.
    private var unavailable: [JobID] = []
    private var quota: Quota?
    public private(set) var learned: LearnedRate?
    private var successes = RecentCount()
    /// Before this time, no request starts.
    private var nextStart = Duration.zero

    /// What the last response reported.
    private struct Quota: Sendable, Equatable {
        var remaining: Int64
        var ends: Duration

        /// Few requests are spread over the time; nil if the time has ended.
        func rate(at now: Duration) -> Double? { ends > now ? Double(remaining) / (ends - now).inSeconds : nil }
    }

    public init() {}
}

// MARK: - Starts

extension HostGate {
    /// Takes the next start.
    ///
    /// - Parameter rule: the requests a second that a rule allows; nil: any number.
    public mutating func start(at now: Duration, rule: Double?) -> Start {
        endClosure(at: now)
        guard let start = earliest(at: now) else { return .notBefore(nil) }
        var isProbe = false
        switch phase {
        case .closed: return .notBefore(start)
        case .halfOpen:
            phase = .halfOpen(isProbed: true)
            isProbe = true
        case .open: break
        }
        if let rate = rate(at: start, rule: rule) { nextStart = start + .seconds(Self.spacing / rate) }
        return .at(start, Ticket(closures: closures, isProbe: isProbe))
    }

    /// Whether the gate was not closed since the ticket was given.
    public func isValid(_ ticket: Ticket) -> Bool { ticket.closures == closures }

    /// The earliest time of the next start; nil: when the probe has its response.
    public func earliest(at now: Duration) -> Duration? {
        switch phase {
        case .open, .halfOpen(isProbed: false): max(now, nextStart)
        case .halfOpen(isProbed: true): nil
        case .closed(let closure): max(now, closure.until)
        }
    }

    /// How many requests may start from now on until `latest`, as far as it is known now.
    public func starts(at now: Duration, until latest: Duration, rule: Double?) -> Int {
        var gate = self
        gate.endClosure(at: now)
        guard let first = gate.earliest(at: now), first <= latest else { return 0 }
        switch gate.phase {
        case .closed: return 0
        case .halfOpen: return 1
        case .open: break
        }
        guard let rate = gate.rate(at: now, rule: rule) else { return .max }
        return 1 + Int(min((latest - first).inSeconds * rate / Self.spacing, 1e6))
    }

    /// Requests to a server do not arrive as they have left, so they start a little slower than it allows.
    private static let spacing = 1.03

    /// The requests a second: the lowest of the rule's rate, the learned one, and that of the quota. nil: any number.
    public func rate(at now: Duration, rule: Double?) -> Double? {
        [rule, learned.flatMap { $0.isPast(at: now) ? nil : $0.rate(at: now) }, quota?.rate(at: now)].compactMap(\.self)
            .min()
    }

    /// The starts a second that several services may make together; nil: any number, or none. In the half-open state, one of them
    /// makes the request that decides, and the others are late enough to learn the result.
    public func sharedRate(at now: Duration, rule: Double?) -> Double? {
        switch state(at: now, rule: rule) {
        case .open, .closed: nil
        case .pacing: rate(at: now, rule: rule).map { $0 / Self.spacing }
        case .halfOpen: min(1, rate(at: now, rule: rule) ?? 1)
        }
    }

    private mutating func endClosure(at now: Duration) {
        if case .closed(let closure) = phase, closure.until <= now { phase = .halfOpen(isProbed: false) }
    }
}

// MARK: - Responses

extension HostGate {
    /// - Parameters:
    ///   - quota: the fields of the response that report one.
    ///   - jitter: from 0 to 1, for the backoff.
    public mutating func receive(
        _ answer: Answer, _ quota: RequestQuota?, to ticket: Ticket, at now: Duration, jitter: Double
    ) {
        let isNew = ticket.closures == closures
        if isNew, answer != .none { record(quota, at: now) }
        switch answer {
        // Its delay takes the quota into account.
        case .refused(let status, let delay):
            return refuse(status, delay, isNew: isNew, quota, at: now, jitter)
        case .unavailable(let job):
            endProbe(ticket, isServed: false)
            if isNew, quota?.delay == nil { unavailable(job, isProbe: ticket.isProbe, at: now, jitter) }
        case .served:
            unavailable = []
            successes.add(at: now)
            if !isNew { learned?.recordLateSuccess(successes.count(at: now)) }
            endProbe(ticket, isServed: true)
        case .none: endProbe(ticket, isServed: false)
        }
        if isNew, answer != .none, let delay = quota?.delay { close(until: now + .seconds(delay), .quota, nil) }
    }

    /// A client wants the next request to start now.
    public mutating func open() {
        phase = .halfOpen(isProbed: false)
        nextStart = .zero
        quota = nil
    }

    private mutating func endProbe(_ ticket: Ticket, isServed: Bool) {
        guard ticket.isProbe, ticket.closures == closures, case .halfOpen(isProbed: true) = phase else { return }
        phase = isServed ? .open : .halfOpen(isProbed: false)
        if isServed { closuresInARow = 0 }
    }

    private mutating func refuse(
        _ status: Int, _ delay: Double?, isNew: Bool, _ quota: RequestQuota?, at now: Duration, _ jitter: Double
    ) {
        let named = delay.map { now + .seconds(min(max(0, $0), RetryPolicy.retryAfterLimit)) }
        guard isNew else {
            // Only a longer wait than the present one is news.
            if let named, case .closed(var closure) = phase, closure.until < named {
                closure.until = named
                phase = .closed(closure)
            }
            return
        }
        if named == nil, quota == nil, status == 429 {
            learned = LearnedRate(after: learned, at: now, served: successes.count(at: now))
        }
        close(until: named ?? backoff(from: now, jitter), .refused, status)
    }

    private mutating func unavailable(_ job: JobID, isProbe: Bool, at now: Duration, _ jitter: Double) {
        if !unavailable.contains(job) { unavailable.append(job) }
        guard isProbe && closuresInARow > 0 || unavailable.count >= Self.manyUnavailable else { return }
        close(until: backoff(from: now, jitter, atMost: Self.longestUnavailable), .unavailable, 503)
    }

    /// One URL that is broken does not close the gate of its host.
    private static let manyUnavailable = 3
    /// In seconds. Such a host has not asked for a pause, and may serve the next request.
    private static let longestUnavailable = 60.0

    private mutating func close(until: Duration, _ reason: Reason, _ status: Int?) {
        closures += 1
        closuresInARow += 1
        unavailable = []
        phase = .closed(Closure(until: until, reason: reason, status: status))
        nextStart = max(nextStart, until)
    }

    /// Full jitter over a bound that doubles with each closure in a row: a second at first, an hour at most.
    private func backoff(from now: Duration, _ jitter: Double, atMost longest: Double = 3600) -> Duration {
        let bound = min(longest, exp2(Double(min(closuresInARow, 12))))
        return now + .seconds(max(0.1, bound * jitter))
    }

    private mutating func record(_ quota: RequestQuota?, at now: Duration) {
        guard let quota else { return }
        let isSmall = quota.remaining <= max(10, (quota.whole ?? 0) / 10)
        let ends = now + .seconds(quota.seconds)
        self.quota =
            isSmall && quota.remaining > 0 && quota.seconds > 0 ? Quota(remaining: quota.remaining, ends: ends) : nil
        if let rate = self.quota?.rate(at: now) { nextStart = max(nextStart, now + .seconds(Self.spacing / rate)) }
    }
}

// MARK: - What is shown and stored

extension HostGate {
    public enum State: String, Sendable, CaseIterable {
        case open, pacing, closed
        case halfOpen = "half_open"
    }

    /// - Parameter rule: the requests a second that a rule allows.
    public func state(at now: Duration, rule: Double?) -> State {
        var gate = self
        gate.endClosure(at: now)
        return switch gate.phase {
        case .closed: .closed
        case .halfOpen: .halfOpen
        case .open: gate.rate(at: now, rule: rule) == nil ? .open : .pacing
        }
    }

    /// nil if the gate is not closed.
    public func closure(at now: Duration) -> Closure? {
        if case .closed(let closure) = phase, closure.until > now { closure } else { nil }
    }

    /// Whether the gate does not differ from a new one for the next requests, so that it need not be kept.
    public func isForgettable(at now: Duration) -> Bool {
        guard phase == .open, nextStart <= now, unavailable.isEmpty else { return false }
        return (quota?.ends ?? now) <= now && (learned?.isPast(at: now) ?? true)
    }

    /// What outlives a restart.
    public struct Stored: Sendable, Equatable {
        public var closure: Closure?
        public var closuresInARow: Int
        public var learned: LearnedRate?

        public init(closure: Closure?, closuresInARow: Int, learned: LearnedRate?) {
            self.closure = closure
            self.closuresInARow = closuresInARow
            self.learned = learned
        }
    }

    public func stored(at now: Duration) -> Stored {
        Stored(closure: closure(at: now), closuresInARow: closuresInARow, learned: learned)
    }

    public init(_ stored: Stored) {
        closuresInARow = stored.closuresInARow
        learned = stored.learned
        guard let closure = stored.closure else {
            // The closure has ended, or a client has ended it, and no response has come since.
            if closuresInARow > 0 { phase = .halfOpen(isProbed: false) }
            return
        }
        closures = 1
        phase = .closed(closure)
        nextStart = closure.until
    }
}

extension Duration {
    var inSeconds: Double { self / .seconds(1) }
}
