import Formats
import Foundation
import Locks

/// Whether this node may act. It renews its lease in the database every 3 seconds. The database ends the lease 10 seconds after
/// the last renewal. The node itself stops after 7 seconds, by a clock that also runs while the machine is suspended, so that
/// it has stopped before others take over its jobs.
final class NodeLease: Sendable {
    static let duration: Duration = .seconds(10)
    static let renewal: Duration = .seconds(3)
    static let patience: Duration = .seconds(7)
    /// The lease of a living node ends at most this long after the present time: its duration, and a margin for small
    /// corrections of the server's clock, which count as no jump (`ServerClock`). A later end was set before the clock
    /// was set back.
    static let longestRest: Duration = .seconds(14)

    private struct State {
        var renewedAt: Duration
        /// Since when the server could be used and its clock has not jumped.
        var steadySince: Duration
        /// Why this process is not the node any more.
        var loss: StoreError?
        var isLeader = false
        /// The position of the journal at which `isLeader` was read.
        var leaderPosition = Int64.min
        var isDraining = false

        func holds(at now: Duration) -> Bool { loss == nil && now - renewedAt < NodeLease.patience }
    }

    private let state: Locked<State>
    private let machine = SystemTime()
    /// The server tells its time with each renewal.
    let clock: ServerClock

    /// - Parameter beginning: when the node asked for the lease, and what the server answered.
    init(_ beginning: ServerClock.Measurement) {
        state = Locked(State(renewedAt: beginning.sentAt, steadySince: beginning.sentAt))
        clock = ServerClock(machine, beginning)
    }

    var uptime: Duration { machine.uptime }

    var holds: Bool {
        let now = uptime
        return state.withLock { $0.holds(at: now) }
    }

    /// Why this process is not the node any more; nil: it is.
    var loss: StoreError? { state.withLock(\.loss) }

    /// Seconds until the server ends the lease, unless it is renewed; 0 if it has ended.
    var secondsLeft: Double {
        let now = uptime
        return state.withLock { $0.loss != nil ? 0 : max(Duration.zero, $0.renewedAt + Self.duration - now).seconds }
    }

    /// Only a node with a lease leads.
    var isLeader: Bool { holds && state.withLock(\.isLeader) }

    /// The clock follows the renewal under the lock, so that `takeoverTime` never has the new clock with the old
    /// `steadySince`.
    func renew(_ renewal: ServerClock.Measurement) {
        state.withLock { state in
            let hasJumped = clock.follow(renewal)
            // The server was away, or this process was stopped.
            if renewal.answeredAt - state.renewedAt > Self.patience {
                (state.steadySince, state.isLeader) = (renewal.answeredAt, false)
            }
            // Leases of living nodes may have ended with the jump.
            if hasJumped { state.steadySince = renewal.answeredAt }
            state.renewedAt = max(state.renewedAt, renewal.sentAt)
        }
    }

    /// The connection was lost. Another server may continue at an earlier position of the journal.
    func noteLoss() { state.withLock { ($0.steadySince, $0.leaderPosition) = (uptime, Int64.min) } }

    /// The server's time as this node estimates it, in milliseconds since 1970 (UTC), for a look at the leases of
    /// others.
    ///
    /// nil unless the server could be used, and its clock did not jump, for as long as a lease lasts. Otherwise the
    /// nodes could not renew their leases in time, and a lease that has ended does not show that its node has.
    var takeoverTime: Int64? {
        state.withLock { state in
            let now = uptime
            guard state.holds(at: now), now - state.steadySince >= Self.duration else { return nil }
            return clock.now.milliseconds
        }
    }

    /// Two threads read who leads, and the later one may have read an earlier state.
    ///
    /// - Parameter position: of the last commit when it was read.
    /// - Returns: whether the node leads from now on.
    func note(isLeader: Bool, at position: Int64) -> Bool {
        state.withLock { state in
            guard position >= state.leaderPosition else { return false }
            defer { (state.isLeader, state.leaderPosition) = (isLeader, position) }
            return isLeader && !state.isLeader
        }
    }

    /// The service stops: the next renewal, which comes soon, shows it to the others.
    func drain() { state.withLock { $0.isDraining = true } }

    var isDraining: Bool { state.withLock(\.isDraining) }

    /// - Parameter loss: why this process is not the node any more.
    func lose(_ loss: StoreError) { state.withLock { $0.loss = $0.loss ?? loss } }
}
