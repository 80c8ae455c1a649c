import Base
import CurlClient
import Downloads
import Foundation
import HTTPSemantics

/// A request that the gates of its host have let start. The gates learn what its response says, once.
final class RequestStart: Sendable {
    /// nil for a rehearsal, which has no host, and after the response.
    private let passage: Locked<HostGates.Passage?>
    private let gates: HostGates

    init(_ passage: HostGates.Passage?, at gates: HostGates) {
        self.passage = Locked(passage)
        self.gates = gates
    }

    /// - Parameter answer: what the response says, if a rule has these statuses besides 429.
    /// - Returns: when the job may ask again, if the host has refused the request.
    @discardableResult
    func receive(_ quota: RequestQuota? = nil, _ answer: (_ pauseStatuses: [Int]) -> HostGate.Answer) -> Date? {
        passage.withLock { $0.take() }.flatMap { gates.receive(answer, quota, to: $0) }
    }

    /// A proxy's own response says nothing about the host.
    func receive(_ facts: ResponseFacts, _ headers: [(name: String, value: String)], of attempt: Attempt) -> Date? {
        guard !facts.isOfProxy else { return nil }
        let now = attempt.services.time.now
        let quota = RequestQuota(headers, at: now)
        return receive(quota) { HostGate.Answer(facts, quota, to: attempt.job.id, pausingAt: $0, at: now) }
    }
}

extension Attempt {
    enum StartOutcome: Sendable {
        case started(RequestStart)
        /// The host accepts no request before this time.
        case heldOff(until: Date)
        case stopped
    }

    /// Waits until the gates of the host let a request start.
    ///
    /// - Parameter target: a segment that the request is to fill: the wait ends when another response has filled it.
    func waitForStart(at url: String, filling target: Connection.Target? = nil) async -> StartOutcome {
        let gates = services.gates
        if Rehearsal.isRehearsal(url) { return .started(RequestStart(nil, at: gates)) }
        let bell = AsyncAutoResetEvent()
        let registration = control.register { bell.set() }
        if let target { target.file.setWaiting(bell, of: target.claim) }
        defer {
            control.unregister(registration)
            if let target { target.file.setWaiting(nil, of: target.claim) }
        }
        let host = url == job.url ? host : URLRule.hostAndPort(of: url)
        switch await gates.start(
            at: host, for: job, spec.hostRules, bell,
            isStopped: { control.isStopping || target.map { $0.file.range(of: $0.claim) == nil } ?? false })
        {
        case .started(let passage): return .started(RequestStart(passage, at: gates))
        case .closed(let closure):
            let left = closure.map { ($0.until - services.time.uptime) / .seconds(1) } ?? 1
            return .heldOff(until: services.time.now.addingTimeInterval(max(0, left)))
        case .stopped: return .stopped
        }
    }
}
