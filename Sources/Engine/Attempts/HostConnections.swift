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
/// If several nodes share the database, additional connections are claimed there before they are opened: `ConnectionClaimer`
/// claims those that were refused here, and the refused caller asks again soon.
final class HostConnections: Sendable {
    fileprivate struct State {
        var ofJobs: [Place: Int] = [:]
        var additional: [Place: Int] = [:]
        var isAdmitting = false
        /// Connections to one host.
        var limit: Int
        /// Additional connections to all hosts together.
        var maxAdditional: Int

        /// The additional connections that are claimed; nil: no other service shares the database.
        var granted: [Place: Int]?
        /// Where connections were refused because they are not claimed.
        var wanted: Set<Place> = []
        /// Until when no claim is made there, because the database has refused one.
        var refusedUntil: [Place: ContinuousClock.Instant] = [:]
        /// Until when new claims are kept for those who wanted them.
        var keptUntil: [Place: ContinuousClock.Instant] = [:]
        /// Whether it is not certain what the database has, because the last write has not ended or has failed.
        var isUnsettled = false

        func count(at host: String, of session: Name? = nil) -> Int {
            (Array(ofJobs) + Array(additional)).reduce(0) { sum, entry in
                entry.key.host == host && (session == nil || entry.key.session == session) ? sum + entry.value : sum
            }
        }
    }

    fileprivate struct Place: Hashable {
        var host: String
        var session: Name
    }

    private let state: Locked<State>
    private let onRoom: @Sendable () -> Void
    /// Set when connections have to be claimed, or to be given back.
    let claimsDue = AsyncAutoResetEvent()

    /// - Parameters:
    ///   - limit: connections to one host.
    ///   - maxAdditional: additional connections to all hosts together.
    ///   - onRoom: called when a host may have a free slot for a job again.
    ///   - areClaimed: whether other services share the database.
    init(limit: Int, maxAdditional: Int, areClaimed: Bool = false, onRoom: @escaping @Sendable () -> Void) {
        state = Locked(State(limit: limit, maxAdditional: maxAdditional, granted: areClaimed ? [:] : nil))
        self.onRoom = onRoom
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

    /// - Parameter sessionLimit: connections that the session may have to the host; nil: only the service's limit
    ///   applies.
    /// - Returns: false when a limit is reached.
    func take(at host: String, of session: Name, atMost sessionLimit: Int?) -> Bool {
        let place = Place(host: host, session: session)
        let isTaken: Bool? = state.withLock { state in
            guard !state.isAdmitting, state.additional.values.reduce(0, +) < state.maxAdditional,
                state.count(at: host) < state.limit, state.count(at: host, of: session) < sessionLimit ?? .max
            else { return false }
            guard state.isGranted(place) else { return state.want(place) ? nil : false }
            state.additional[place, default: 0] += 1
            return true
        }
        if isTaken == nil { claimsDue.set() }
        return isTaken ?? false
    }

    func giveBack(at host: String, of session: Name) {
        let isClaimed = state.withLock { state in
            Self.remove(Place(host: host, session: session), from: &state.additional)
            return state.granted != nil
        }
        if isClaimed { claimsDue.set() }
        onRoom()
    }

    private static func remove(_ place: Place, from counts: inout [Place: Int]) {
        guard let count = counts[place] else { return }
        counts[place] = count > 1 ? count - 1 : nil
    }
}

// MARK: - Claims in the database

extension HostConnections {
    /// What has to be claimed: what exists, and one more connection for each place where one was refused. Until `grant(_:)`, no
    /// connection is opened beyond the first list.
    ///
    /// - Returns: nil if nothing has changed.
    func takeClaims() -> (used: [AdmissionLimits.Taken], wanted: [AdmissionLimits.Taken])? {
        state.withLock { state in
            guard let granted = state.granted else { return nil }
            let used = state.neededClaims(at: .now)
            guard !state.wanted.isEmpty || used != granted || state.isUnsettled else { return nil }
            defer { state.wanted = [] }
            (state.granted, state.isUnsettled) = (used, true)
            for place in state.wanted { state.refusedUntil[place] = .now + .seconds(2) }
            return (Self.list(used), state.wanted.map { .init(session: $0.session, host: $0.host, count: 1) })
        }
    }

    func grant(_ connections: [AdmissionLimits.Taken]) {
        let counts = connections.map { (Place(host: $0.host, session: $0.session), $0.count) }
        let granted = Dictionary(counts, uniquingKeysWith: +)
        state.withLock { state in
            for (place, count) in granted where count > state.granted?[place] ?? 0 {
                state.keptUntil[place] = .now + .seconds(1)
                state.refusedUntil[place] = nil
            }
            (state.granted, state.isUnsettled) = (granted, false)
        }
    }

    /// Whether connections are claimed that do not exist.
    var hasSurplus: Bool { state.withLock { $0.granted != nil && ($0.granted != $0.additional || $0.isUnsettled) } }

    private static func list(_ counts: [Place: Int]) -> [AdmissionLimits.Taken] {
        counts.map { .init(session: $0.key.session, host: $0.key.host, count: $0.value) }
    }
}

extension HostConnections.State {
    /// - Returns: whether a claim is made for the place.
    fileprivate mutating func want(_ place: HostConnections.Place) -> Bool {
        if let until = refusedUntil[place], until > .now { return false }
        return wanted.insert(place).inserted
    }

    /// The connections that exist, and new claims whose connections do not exist yet.
    fileprivate func neededClaims(at now: ContinuousClock.Instant) -> [HostConnections.Place: Int] {
        let kept = (granted ?? [:]).filter { place, _ in keptUntil[place].map { $0 > now } ?? false }
        return additional.merging(kept) { max($0, $1) }
    }

    fileprivate func isGranted(_ place: HostConnections.Place) -> Bool {
        guard let granted else { return true }
        return additional[place, default: 0] < granted[place, default: 0]
    }
}
