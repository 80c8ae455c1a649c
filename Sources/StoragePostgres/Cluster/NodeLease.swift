import Base
import Downloads
import Formats
import Foundation
import PostgresClient
import Storage

/// Whether this node may act. It renews its lease in the database every 3 seconds. The database ends the lease 10 seconds after
/// the last renewal. The node itself stops after 7 seconds, by a clock that also runs while the machine is suspended, so that
/// it has stopped before others take over its jobs.
final class NodeLease: Sendable {
    static let duration: Duration = .milliseconds(ServerTime.leaseDuration)
    static let renewal: Duration = .seconds(3)
    static let patience: Duration = .seconds(7)

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
                state.steadySince = renewal.answeredAt
                state.isLeader = false
            }
            // Leases of living nodes may have ended with the jump.
            if hasJumped { state.steadySince = renewal.answeredAt }
            state.renewedAt = max(state.renewedAt, renewal.sentAt)
        }
    }

    /// The connection was lost. Another server may continue at an earlier position of the journal.
    func noteLoss() {
        state.withLock {
            $0.steadySince = uptime
            $0.leaderPosition = Int64.min
        }
    }

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
            defer {
                state.isLeader = isLeader
                state.leaderPosition = position
            }
            return isLeader && !state.isLeader
        }
    }

    /// The service stops: the next renewal, which comes soon, shows it to the others.
    func drain() { state.withLock { $0.isDraining = true } }

    var isDraining: Bool { state.withLock(\.isDraining) }

    /// - Parameter loss: why this process is not the node any more.
    func lose(_ loss: StoreError) { state.withLock { $0.loss = $0.loss ?? loss } }
}

/// The clock of the database's server, which all nodes share. Their own clocks may differ.
///
/// A node measures the difference with each renewal of its lease.
final class ServerClock: TimeSource {
    private let machine: any TimeSource
    /// The server's time at uptime 0, in milliseconds since 1970 (UTC).
    private let origin: Locked<Int64>

    init(_ machine: any TimeSource, _ measurement: Measurement) {
        self.machine = machine
        origin = Locked(measurement.origin)
    }

    struct Measurement {
        /// The server's time between two uptimes of this machine, in milliseconds since 1970 (UTC).
        var serverTime: Int64
        var sentAt: Duration
        var answeredAt: Duration

        var origin: Int64 { serverTime - ((sentAt + answeredAt) / 2).milliseconds }
        var error: Duration { (answeredAt - sentAt) / 2 }
    }

    /// Follows a measurement that is exact enough.
    ///
    /// - Returns: whether the server's clock has jumped.
    func follow(_ measurement: Measurement) -> Bool {
        let (new, error) = (measurement.origin, measurement.error.milliseconds)
        return origin.withLock { origin in
            let difference = abs(new - origin)
            if difference > error + 1 { origin = new }
            return difference > error + Self.smallestJump
        }
    }

    /// In milliseconds. Corrections by less do not end a lease that is renewed in time.
    private static let smallestJump: Int64 = 1000

    var now: Date { Date(milliseconds: origin.withLock(\.self) + machine.uptime.milliseconds) }
    var uptime: Duration { machine.uptime }
    /// The stored uptime can be that of another machine.
    var boot: String? { nil }

    func sleep(untilUptime deadline: Duration) async throws { try await machine.sleep(untilUptime: deadline) }

    func wait(every interval: Duration, until answer: @escaping @Sendable () -> Bool) async {
        await machine.wait(every: interval, until: answer)
    }
}

/// When the lease is renewed, and when the node looks for what no notification has told it.
struct LeaseRenewal {
    /// A node stores the progress of its jobs and reads that of the others each time. So progress is less than two
    /// seconds old: it waits for this long to be stored, and for this long to be read.
    private static let interval: Duration = .milliseconds(900)

    private let node: Node
    private var last: Duration?
    private var lookedAt: Duration = .zero
    private var hasShownDraining = false

    init(_ node: Node) { self.node = node }

    func isDue(at now: Duration, isDraining: Bool = false) -> Bool {
        isDraining && !hasShownDraining || last.map { now - $0 >= NodeLease.renewal } ?? true
    }

    func untilNextLook(at now: Duration) -> Duration { max(.zero, lookedAt + Self.interval - now) }

    mutating func looksAgain(at now: Duration) -> Bool {
        guard untilNextLook(at: now) == .zero else { return false }
        lookedAt = now
        return true
    }

    /// - Throws: `StoreError.nodeReplaced`.
    mutating func renew(_ lease: NodeLease, on connection: PostgresConnection) throws {
        let (sentAt, isDraining) = (lease.uptime, lease.isDraining)
        let rows = try connection.execute(
            PostgresStatement(Self.statement, [.int8(node.number), .int8(node.epoch), .int8(isDraining ? 1 : 0)]))
        guard let row = rows.first else { throw StoreError.nodeReplaced }
        hasShownDraining = isDraining
        last = sentAt
        lease.renew(.init(serverTime: try row.value(0), sentAt: sentAt, answeredAt: lease.uptime))
    }

    private static let statement = """
        UPDATE nodes SET expires_at = \(ServerTime.leaseEnd), is_draining = $3 WHERE number = $1 AND epoch = $2 RETURNING \(ServerTime.now)
        """
}
