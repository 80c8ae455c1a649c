import Base
import Downloads
import Foundation
import Storage

/// The starts of requests that all services of a database make together. Where a gate lets requests start at intervals, a service
/// claims each start in the database before it makes it (`Store.claimStarts`).
///
/// A request without a claimed start leaves a wish. A worker claims starts for all wishes with one commit, and the requests take
/// them in their order.
extension HostGates {
    /// What the requests that wait for a claim need.
    func wantedStarts() -> [StartClaim] {
        let now = time.uptime
        let (claims, bells) = state.withLock { state in
            var claims: [StartClaim] = []
            var bells: [AsyncAutoResetEvent] = []
            for (key, entry) in state.entries where !entry.wishes.isEmpty {
                if let rate = entry.sharedRate(at: now) {
                    let count = max(1, entry.wishes.count - entry.claimed.count)
                    claims.append(.init(host: key.host, session: key.session, interval: 1 / rate, count: count))
                } else {
                    // Its gate was closed, or is open.
                    bells += state.entries[key]?.removeWishes() ?? []
                }
            }
            return (claims, bells)
        }
        for bell in bells { bell.set() }
        return claims
    }

    /// - Parameter moments: the claimed starts of each claim.
    func grant(_ moments: [[Date]], for claims: [StartClaim]) {
        let (now, wall) = (time.uptime, time.now)
        let bells = state.withLock { state in
            zip(claims, moments).flatMap { claim, moments in
                let key = Key(host: claim.host, session: claim.session)
                state.entries[key]?.claimed += moments.map { now + .seconds($0.timeIntervalSince(wall)) }
                return state.entries[key]?.removeWishes() ?? []
            }
        }
        for bell in bells { bell.set() }
    }
}

extension HostGates.State {
    /// Whether each of the gates that needs a claimed start has one. If not, the bell is set when that may have changed.
    mutating func areClaimed(_ keys: [HostGates.Key], at now: Duration, _ bell: AsyncAutoResetEvent) -> Bool {
        var areClaimed = true
        for key in keys {
            entries[key]?.dropMissed(at: now)
            guard let entry = entries[key], entry.sharedRate(at: now) != nil, entry.claimed.isEmpty else { continue }
            entries[key]?.wishes[ObjectIdentifier(bell)] = bell
            areClaimed = false
        }
        return areClaimed
    }
}

extension HostGates.Entry {
    fileprivate func sharedRate(at now: Duration) -> Double? { gate.sharedRate(at: now, rule: rule?.requestsPerSecond) }

    /// A start that was not made in its time must not come together with those of other services. A gate that needs no claims any
    /// more has none.
    fileprivate mutating func dropMissed(at now: Duration) {
        if claimed.isEmpty { return }
        let isNeeded = sharedRate(at: now) != nil
        claimed.removeAll { !isNeeded || $0 < now - .milliseconds(250) }
    }

    mutating func takeClaimed() -> Duration? { claimed.isEmpty ? nil : claimed.removeFirst() }

    fileprivate mutating func removeWishes() -> [AsyncAutoResetEvent] {
        defer { wishes = [:] }
        return Array(wishes.values)
    }
}

extension EngineServices {
    /// Claims the starts that requests wait for. Those of the meantime are claimed next.
    func claimStarts() async throws -> Date? {
        let claims = gates.wantedStarts()
        guard !claims.isEmpty else { return nil }
        gates.grant(try await store.claimStarts(claims), for: claims)
        return nil
    }
}
