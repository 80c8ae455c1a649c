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
final class HostConnections: Sendable {
    private struct State {
        var ofJobs: [Place: Int] = [:]
        var additional: [Place: Int] = [:]
        var isAdmitting = false
        /// Connections to one host.
        var limit: Int
        /// Additional connections to all hosts together.
        var maxAdditional: Int

        func count(at host: String, of session: Name? = nil) -> Int {
            (Array(ofJobs) + Array(additional)).reduce(0) { sum, entry in
                entry.key.host == host && (session == nil || entry.key.session == session) ? sum + entry.value : sum
            }
        }
    }

    private struct Place: Hashable {
        var host: String
        var session: Name
    }

    private let state: Locked<State>
    private let onRoom: @Sendable () -> Void

    /// - Parameters:
    ///   - limit: connections to one host.
    ///   - maxAdditional: additional connections to all hosts together.
    ///   - onRoom: called when a host may have a free slot for a job again.
    init(limit: Int, maxAdditional: Int, onRoom: @escaping @Sendable () -> Void) {
        state = Locked(State(limit: limit, maxAdditional: maxAdditional))
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
        state.withLock { state in
            guard !state.isAdmitting, state.additional.values.reduce(0, +) < state.maxAdditional,
                state.count(at: host) < state.limit, state.count(at: host, of: session) < sessionLimit ?? .max
            else { return false }
            state.additional[Place(host: host, session: session), default: 0] += 1
            return true
        }
    }

    func giveBack(at host: String, of session: Name) {
        state.withLock { Self.remove(Place(host: host, session: session), from: &$0.additional) }
        onRoom()
    }

    private static func remove(_ place: Place, from counts: inout [Place: Int]) {
        guard let count = counts[place] else { return }
        counts[place] = count > 1 ? count - 1 : nil
    }
}
