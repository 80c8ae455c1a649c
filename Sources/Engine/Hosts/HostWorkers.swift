import Downloads
import Foundation
import Storage

extension EngineServices {
    /// Stores the gates that hosts have closed, so that a restart and the other services of the database keep them closed.
    func storeHosts() async throws -> Date? {
        let hosts = gates.takeChanged()
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
        gates.restore(try await store.hosts(changedSince: time.now.addingTimeInterval(-60)))
        store.work(.jobs).set()
        return nil
    }
}

extension StoredHost: CustomStringConvertible {
    /// A line of the log.
    public var description: String {
        guard let closedUntil, let reason else { return "\(host) gets requests again: a client has asked for it." }
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
    public func openHost(_ host: String, audit note: AuditNote?) async throws -> HostView? {
        guard let opened = services.gates.open(host) else { return nil }
        try await store.saveHosts([opened], audit: note)
        store.work(.jobs).set()
        return services.gates.views().first { $0.host == host }
    }
}
