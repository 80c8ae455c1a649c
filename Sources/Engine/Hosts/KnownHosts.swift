import Downloads
import Foundation
import Storage

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
        status: Int? = nil, requestsPerSecond: Double? = nil, nextStart: Date? = nil
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

extension Engine {
    /// The hosts that have running or queued jobs, or a gate that is not open. Those with the most queued jobs come first.
    ///
    /// - Parameter visible: the sessions that the caller may see. A host without a job of them is left out.
    public func hosts(visible: VisibleSessions) async throws -> [(host: HostView, load: HostLoad)] {
        let loads = try await store.jobsByHost(visible: visible)
        let gates = Dictionary(uniqueKeysWithValues: services.gates.views().map { ($0.host, $0) })
        let closed = visible == .all ? gates.values.filter { $0.state != .open }.map(\.host) : []
        return Set(loads.keys).union(closed).map { host in
            (gates[host] ?? HostView(host: host, state: .open), loads[host] ?? HostLoad())
        }.sorted { ($1.load.queued, $0.host.host) < ($0.load.queued, $1.host.host) }
    }

    /// Lets the next request to the host start now, and stores that a client has asked for it.
    ///
    /// - Returns: nil if nothing is known about the host.
    public func openHost(_ host: String, audit note: AuditNote?) async throws -> (host: HostView, load: HostLoad)? {
        guard let opened = services.gates.open(host) else { return nil }
        try await store.openHost(opened, audit: note)
        let view = services.gates.views().first { $0.host == host } ?? HostView(host: host, state: .open)
        return (view, try await store.jobsByHost()[host] ?? HostLoad())
    }
}

// MARK: - The database

extension EngineServices {
    /// Stores the gates that hosts have closed, so that a restart and the other services of the database keep them closed.
    func storeHosts() async throws -> Date? {
        let hosts = gates.consumeChanged()
        guard !hosts.isEmpty else { return nil }
        for host in hosts { log.info("\(host)", metadata: ["host": "\(host.host)"]) }
        do {
            try await store.saveHosts(hosts)
        } catch {
            gates.markChanged(hosts)
            throw error
        }
        return nil
    }

    /// Another service may have stored a gate. Changes of this one are read as well, and have no effect.
    func readHosts() async throws -> Date? {
        guard store.sharesDatabase else { return nil }
        let (now, last) = (time.now, lastReadOfHosts.withLock(\.self))
        // The clocks of services differ, and a commit can be visible a little later than its time.
        gates.restore(try await store.hosts(changedSince: last.addingTimeInterval(-60)))
        lastReadOfHosts.withLock { $0 = now }
        store.work(.jobs).set()
        return nil
    }
}

extension StoredHost {
    init(_ host: String, _ gate: HostGate.Stored, changedAt: Date, uptime: Duration, now: Date) {
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

    func gate(uptime: Duration, now: Date) -> HostGate.Stored {
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

extension StoredHost: CustomStringConvertible {
    /// A line of the log.
    public var description: String {
        guard let closedUntil, let reason else { return "\(host) gets requests again." }
        return "\(host) gets no requests until \(closedUntil.rfc3339): \(reason.sentence(status))."
    }
}

extension HostGate.Reason {
    /// Why a gate is closed, as the end of a sentence, without its full stop.
    public func sentence(_ status: Int?) -> String {
        switch self {
        case .refused: "it has answered a request with \(status ?? 429)"
        case .unavailable: "its last responses, to several jobs, were 503"
        case .quota: "the number of requests that it allows is used up"
        }
    }
}
