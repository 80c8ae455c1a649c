import Downloads
import HTTPSemantics
import Locks
import Storage

/// Counts the connections to each host: the primary connections, one for each running job, and the additional ones.
/// Both kinds count against the same limits.
///
/// A transaction admits jobs, and with them their primary connections. Additional connections are counted here. Both
/// must not use the same free slot. So no additional connection is counted during an admission, and the admission gets
/// the number of existing additional connections.
///
/// If several nodes can share the database, additional connections are claimed there before they are opened: `ConnectionClaimer`
/// claims those that were refused here, and sets the bell of the refused job.
final class HostConnections: Sendable {
    private struct State {
        var ofJobs: [Place: Int] = [:]
        var additional: [Place: Int] = [:]
        var isAdmitting = false
        /// Connections to one host.
        var limit: Int
        /// Additional connections to all hosts together.
        var maxAdditional: Int

        var claims = ConnectionClaims()

        func count(at host: String, of session: Name? = nil) -> Int {
            (Array(ofJobs) + Array(additional)).reduce(0) { sum, entry in
                entry.key.host == host && (session == nil || entry.key.session == session) ? sum + entry.value : sum
            }
        }
    }

    private typealias Place = ConnectionClaims.Place

    private let state: Locked<State>
    private let onRoom: @Sendable () -> Void
    private let areClaimed: Bool
    /// Set when connections have to be claimed, or to be given back.
    let claimsDue = AsyncAutoResetEvent()

    /// - Parameters:
    ///   - limit: connections to one host.
    ///   - maxAdditional: additional connections to all hosts together.
    ///   - areClaimed: whether other services can share the database, so that additional connections are claimed there.
    ///   - onRoom: called when a host may have a free slot for a job again.
    init(limit: Int, maxAdditional: Int, areClaimed: Bool = false, onRoom: @escaping @Sendable () -> Void) {
        state = Locked(State(limit: limit, maxAdditional: maxAdditional))
        (self.areClaimed, self.onRoom) = (areClaimed, onRoom)
    }

    /// Connections above a lower limit stay until they end.
    func apply(_ limits: Engine.Limits) {
        state.withLock { state in
            (state.limit, state.maxAdditional) = (limits.connectionsPerHost, limits.additionalConnections)
        }
    }

    // MARK: Primary connections

    /// Refuses additional connections until `endAdmission()`.
    ///
    /// - Returns: the additional connections that exist now.
    func beginAdmission() -> [AdmissionLimits.Taken] {
        state.withLock { state in
            state.isAdmitting = true
            return state.additional.map {
                AdmissionLimits.Taken(session: $0.key.session, host: $0.key.host, count: $0.value)
            }
        }
    }

    func endAdmission() { state.withLock { $0.isAdmitting = false } }

    func begin(_ job: Job) { state.withLock { $0.ofJobs[Self.place(of: job), default: 0] += 1 } }

    func end(_ job: Job) { state.withLock { Self.remove(Self.place(of: job), from: &$0.ofJobs) } }

    private static func place(of job: Job) -> Place {
        Place(host: URLRule.hostAndPort(of: job.url), session: job.session)
    }

    // MARK: Additional connections

    /// - Parameters:
    ///   - sessionLimit: connections that the session may have to the host; nil: only the service's limit applies.
    ///   - wish: what is claimed, if the connection has to be claimed first; nil: nothing.
    /// - Returns: false when a limit is reached, or when the connection is not claimed.
    func take(
        at host: String, of session: Name, atMost sessionLimit: Int?, wish: ConnectionClaims.Wish? = nil
    ) -> Bool {
        let place = Place(host: host, session: session)
        let isTaken: Bool? = state.withLock { state in
            guard !state.isAdmitting, state.additional.values.reduce(0, +) < state.maxAdditional,
                state.count(at: host) < state.limit, state.count(at: host, of: session) < sessionLimit ?? .max
            else { return false }
            if areClaimed, state.additional[place, default: 0] >= state.claims.granted[place, default: 0] {
                return wish.map { state.claims.want(place, $0) } == true ? nil : false
            }
            state.additional[place, default: 0] += 1
            return true
        }
        if isTaken == nil { claimsDue.set() }
        return isTaken ?? false
    }

    func giveBack(at host: String, of session: Name) {
        state.withLock { Self.remove(Place(host: host, session: session), from: &$0.additional) }
        if areClaimed { claimsDue.set() }
        onRoom()
    }

    private static func remove(_ place: Place, from counts: inout [Place: Int]) {
        guard let count = counts[place] else { return }
        counts[place] = count > 1 ? count - 1 : nil
    }
}

// MARK: - Claims in the database

extension HostConnections {
    /// What has to be claimed.
    ///
    /// - Returns: nil if nothing has changed.
    func takeClaims() -> (used: [AdmissionLimits.Taken], wanted: [AdmissionLimits.Taken])? {
        let claims = state.withLock { $0.claims.take(beside: $0.additional) }
        return claims.map { (Self.list($0.used), Self.list($0.wanted)) }
    }

    /// - Parameter connections: what may exist from now on.
    func grant(_ connections: [AdmissionLimits.Taken]) {
        let counts = connections.map { (Place(host: $0.host, session: $0.session), $0.count) }
        let bells = state.withLock { $0.claims.grant(Dictionary(counts, uniquingKeysWith: +)) }
        for bell in bells { bell.set() }
    }

    /// Whether the claims differ from the connections that exist.
    var hasSurplus: Bool { areClaimed && state.withLock { $0.claims.differ(from: $0.additional) } }

    private static func list(_ counts: [Place: Int]) -> [AdmissionLimits.Taken] {
        counts.map { .init(session: $0.key.session, host: $0.key.host, count: $0.value) }
    }
}
