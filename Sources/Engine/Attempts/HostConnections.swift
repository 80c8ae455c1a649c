import Base
import Downloads
import HTTPSemantics
import Storage

/// Counts the connections to each host: the primary connections, one for each running job, and the additional ones.
/// Both kinds count against the same limits.
///
/// A transaction admits jobs, and with them their primary connections. Additional connections are counted here. Both
/// must not use the same free slot. So no additional connection is counted during an admission, and the admission gets
/// the number of existing additional connections.
///
/// If several services can share the database, additional connections are claimed there before they are opened: a worker
/// claims those that were refused here, and sets the bell of the refused job.
final class HostConnections: Sendable {
    private struct State {
        var ofJobs: [Place: Int] = [:]
        var additional: [Place: Int] = [:]
        var isAdmitting = false
        /// Connections to one host.
        var limit: Int
        var rules: HostRules
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
    ///   - areClaimed: whether other services can share the database, so that additional connections are claimed there.
    ///   - onRoom: called when a host may have a free slot for a job again.
    init(
        limit: Int, maxAdditional: Int, rules: HostRules = HostRules(), areClaimed: Bool = false,
        onRoom: @escaping @Sendable () -> Void
    ) {
        state = Locked(State(limit: limit, rules: rules, maxAdditional: maxAdditional))
        self.areClaimed = areClaimed
        self.onRoom = onRoom
    }

    /// Connections above a lower limit stay until they end.
    func apply(_ limits: Engine.Limits) {
        state.withLock { state in
            state.limit = limits.connectionsPerHost
            state.maxAdditional = limits.additionalConnections
            state.rules = limits.hostRules
        }
    }

    // MARK: Primary connections

    /// Refuses additional connections until `endAdmission()`.
    ///
    /// - Returns: the additional connections that exist now.
    func beginAdmission() -> [AdmissionLimits.Taken] {
        state.withLock { state in
            state.isAdmitting = true
            return Self.list(state.additional)
        }
    }

    /// The additional connections that exist now.
    var taken: [AdmissionLimits.Taken] { state.withLock { Self.list($0.additional) } }

    func endAdmission() { state.withLock { $0.isAdmitting = false } }

    func begin(at host: String, of session: Name) {
        state.withLock { $0.ofJobs[Place(host: host, session: session), default: 0] += 1 }
    }

    func end(at host: String, of session: Name) {
        state.withLock { Self.remove(Place(host: host, session: session), from: &$0.ofJobs) }
    }

    // MARK: Additional connections

    /// - Parameters:
    ///   - sessionLimit: connections that the session may have to the host; nil: only the service's limit applies.
    ///   - wish: what is claimed, if the connection has to be claimed first; nil: nothing.
    /// - Returns: false when a limit is reached, or when the connection is not claimed.
    func acquire(
        at host: String, of session: Name, atMost sessionLimit: Int?, wish: ConnectionClaims.Wish? = nil
    ) -> Bool {
        let place = Place(host: host, session: session)
        let isTaken: Bool? = state.withLock { state in
            guard !state.isAdmitting, state.additional.values.reduce(0, +) < state.maxAdditional,
                state.count(at: host) < min(state.limit, state.rules[host]?.connections ?? .max),
                state.count(at: host, of: session) < sessionLimit ?? .max
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

    func release(at host: String, of session: Name) {
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
    /// - Returns: nil if nothing has changed.
    func consumeClaims() -> (used: [AdmissionLimits.Taken], wanted: [AdmissionLimits.Taken])? {
        let claims = state.withLock { $0.claims.consume(beside: $0.additional) }
        return claims.map { (Self.list($0.used), Self.list($0.wanted)) }
    }

    func grant(_ connections: [AdmissionLimits.Taken]) {
        let counts = connections.map { (Place(host: $0.host, session: $0.session), $0.count) }
        let bells = state.withLock { $0.claims.grant(Dictionary(counts, uniquingKeysWith: +)) }
        for bell in bells { bell.set() }
    }

    var hasSurplus: Bool { areClaimed && state.withLock { $0.claims.differ(from: $0.additional) } }

    private static func list(_ counts: [Place: Int]) -> [AdmissionLimits.Taken] {
        counts.map { .init(session: $0.key.session, host: $0.key.host, count: $0.value) }
    }
}

/// The claims of this service on additional connections: what the database has granted, and what is wanted.
struct ConnectionClaims {
    struct Place: Hashable {
        var host: String
        var session: Name
    }

    struct Wish {
        var count: Int
        /// Set when some of them are granted. It identifies the job as well.
        var bell: AsyncAutoResetEvent
    }

    private(set) var granted: [Place: Int] = [:]
    /// Whether it is not certain what the database has, because the last write has not ended or has failed.
    private var isUncertain = false
    /// Wishes that no claim has been made for.
    private var wishes: [Place: [ObjectIdentifier: Wish]] = [:]
    /// The wishes of the claim that the database decides now.
    private var asked: [Place: [Wish]] = [:]
    /// Until when no claim is made there, because the database has refused one or decides one.
    private var refusedUntil: [Place: ContinuousClock.Instant] = [:]
    /// Until when new claims are kept for the jobs that wanted them.
    private var keptUntil: [Place: ContinuousClock.Instant] = [:]

    /// - Returns: whether the claimer has to learn of it.
    mutating func want(_ place: Place, _ wish: Wish) -> Bool {
        if let until = refusedUntil[place], until > .now { return false }
        defer { wishes[place, default: [:]][ObjectIdentifier(wish.bell)] = wish }
        return wishes[place] == nil
    }

    /// What has to be claimed: what exists, and what is wanted. Until `grant`, no connection is opened beyond the first list.
    ///
    /// - Returns: nil if nothing has changed.
    mutating func consume(beside additional: [Place: Int]) -> (used: [Place: Int], wanted: [Place: Int])? {
        removePassedTimes()
        let used = additional.merging(granted.filter { keptUntil[$0.key] != nil }) { max($0, $1) }
        guard !wishes.isEmpty || used != granted || isUncertain else { return nil }
        (asked, wishes) = (wishes.mapValues { Array($0.values) }, [:])
        (granted, isUncertain) = (used, true)
        for place in asked.keys { refusedUntil[place] = .now + .seconds(2) }
        return (used, asked.mapValues(Self.count))
    }

    /// - Parameter granted: the connections that may exist from now on.
    /// - Returns: the bells to set.
    mutating func grant(_ granted: [Place: Int]) -> [AsyncAutoResetEvent] {
        var bells: [AsyncAutoResetEvent] = []
        for (place, wishes) in asked {
            let new = granted[place, default: 0] - self.granted[place, default: 0]
            guard new > 0 else { continue }
            keptUntil[place] = .now + .seconds(1)
            if new >= Self.count(wishes) { refusedUntil[place] = nil }
            bells += wishes.map(\.bell)
        }
        self.granted = granted
        isUncertain = false
        asked = [:]
        return bells
    }

    /// Whether the database has other claims than for these connections.
    func differ(from additional: [Place: Int]) -> Bool { granted != additional || isUncertain }

    private static func count(_ wishes: [Wish]) -> Int { wishes.reduce(0) { $0 + $1.count } }

    private mutating func removePassedTimes() {
        let now = ContinuousClock.now
        refusedUntil = refusedUntil.filter { $0.value > now }
        keptUntil = keptUntil.filter { $0.value > now }
    }
}
