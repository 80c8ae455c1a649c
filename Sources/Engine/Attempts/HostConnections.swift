import Downloads
import HTTPSemantics
import Locks
import Storage

/// How many connections each host has: those of the jobs under way, one each, and those that some of them have beside
/// their first. Both kinds count against the same limits.
///
/// Jobs are admitted in a transaction, the others are taken here. So that both never take the same room, nothing is taken
/// while an admission is under way; it knows what was taken before.
final class HostConnections: Sendable {
    private struct State {
        var ofJobs: [Place: Int] = [:]
        var further: [Place: Int] = [:]
        var isAdmitting = false

        func count(at host: String, of session: Name? = nil) -> Int {
            (Array(ofJobs) + Array(further)).reduce(0) { sum, entry in
                entry.key.host == host && (session == nil || entry.key.session == session) ? sum + entry.value : sum
            }
        }
    }

    private struct Place: Hashable {
        var host: String
        var session: Name
    }

    private let state = Locked(State())
    private let limit: Int
    private let mostFurther: Int
    private let onRoom: @Sendable () -> Void

    /// - Parameters:
    ///   - limit: connections to one host.
    ///   - mostFurther: connections beside the jobs' first ones, altogether.
    ///   - onRoom: called when a job may have room now that had none.
    init(limit: Int, mostFurther: Int, onRoom: @escaping @Sendable () -> Void) {
        self.limit = limit
        self.mostFurther = mostFurther
        self.onRoom = onRoom
    }

    // MARK: Of jobs

    /// What is taken beside the jobs' own; until `endAdmission` nothing more will be.
    func beginAdmission() -> [AdmissionLimits.Taken] {
        state.withLock { state in
            state.isAdmitting = true
            return state.further.map {
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

    // MARK: Beside them

    /// - Parameter sessionLimit: connections of its session to that host; nil: the service's limit alone.
    /// - Returns: false when there is no room.
    func take(at host: String, of session: Name, atMost sessionLimit: Int?) -> Bool {
        state.withLock { state in
            guard !state.isAdmitting, state.further.values.reduce(0, +) < mostFurther,
                state.count(at: host) < limit, state.count(at: host, of: session) < sessionLimit ?? .max
            else { return false }
            state.further[Place(host: host, session: session), default: 0] += 1
            return true
        }
    }

    func giveBack(at host: String, of session: Name) {
        state.withLock { Self.remove(Place(host: host, session: session), from: &$0.further) }
        onRoom()
    }

    private static func remove(_ place: Place, from counts: inout [Place: Int]) {
        guard let count = counts[place] else { return }
        counts[place] = count > 1 ? count - 1 : nil
    }
}
