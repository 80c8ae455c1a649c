import Downloads

/// The services that share a PostgreSQL database, as one of them sees it: the node. All members may be used from any thread.
package protocol Cluster: Sendable {
    var node: Node { get }

    /// Whether the node may act for its jobs: no other one can have taken them over.
    var holdsLease: Bool { get }

    /// Seconds until the lease ends, unless it is renewed; 0 if it has ended.
    var leaseSeconds: Double { get }

    /// Whether the node does what one node does for all.
    var isLeader: Bool { get }

    /// The clock that the nodes share.
    var clock: any TimeSource { get }

    /// The server's time as the node estimates it, in milliseconds since 1970 (UTC). nil unless the node could
    /// use the database for as long as a lease lasts, and the server's clock did not jump, so that a lease that has
    /// ended shows that its node has.
    var takeoverTime: Int64? { get }

    /// See `Store.firstNode`.
    var firstNode: Int64? { get }

    /// A commit has made this node, or an earlier one has made another node, the first node.
    func note(firstNode: Int64)

    /// The last commit has made this node the leader. Only the writer's thread calls it.
    func noteLead()

    /// Shows the other nodes that this one stops.
    func drain()

    /// Follows the commits of the other nodes from now on, and keeps the lease of this one.
    func follow(_ follower: NodeFollower)
}

/// What a service says about itself to the other nodes of its database.
public struct NodeDescription: Sendable, Equatable {
    /// Where other nodes reach its API, such as `http://10.0.0.7:8080`; nil: they do not.
    public var url: String?
    public var version = ""
    /// The largest number of jobs that run on it at once.
    public var slots = 16
    /// Whether all nodes use one downloads folder.
    public var sharesDownloads = false

    public init() {}
}

/// What the nodes have stored, as a group commit finds it when it begins.
package struct ChangesOfOthers {
    /// The jobs that other nodes have changed since the last commit of this one; nil: they have changed nothing.
    let jobs: CommitNotice.Jobs?
    /// The number of the last stored jump of the clock.
    let lastJump: Int64
    /// Differs after each change of the settings that clients have stored.
    let settingsVersion: Int64

    package init(jobs: CommitNotice.Jobs?, lastJump: Int64, settingsVersion: Int64) {
        self.jobs = jobs
        self.lastJump = lastJump
        self.settingsVersion = settingsVersion
    }
}

extension StoreEngine {
    /// An engine of one service has none.
    package var cluster: (any Cluster)? { nil }
}

/// This service among those that share its database. In a database of one service, it holds and leads without a lease.
extension Store {
    /// nil in a database of one service.
    public var node: Node? { engine.cluster?.node }

    /// Whether other services can use the same database.
    public var sharesDatabase: Bool { engine.cluster != nil }

    /// Whether this service does what one node does for all that share the database.
    public var isLeader: Bool { engine.cluster?.isLeader ?? true }

    /// Whether this service may still act for its jobs: no other node can have taken them over.
    public var holdsLease: Bool { engine.cluster?.holdsLease ?? true }

    /// Seconds until other nodes may take over the jobs of this service, unless it renews its lease; 0 if they may; nil in a
    /// database of one service. It is known also while the database is away.
    public var leaseSeconds: Double? { engine.cluster?.leaseSeconds }

    /// Shows the other nodes that this service stops. Its lease ends when the store is closed.
    public func drain() { engine.cluster?.drain() }

    /// Workers of the leader look after this many seconds whether this node leads now. Signals can make them look earlier.
    public static let leaderCheckInterval: Double = 1

    /// Call it before an answer from memory: without the lease, this node does not learn of changes by other nodes.
    ///
    /// - Throws: `databaseAway` if the lease has ended.
    public func requireLease() throws(StoreError) { guard holdsLease else { throw .leaseEnded } }

    /// Calls a function twice a second as long as this node has no lease. Returns when the task is cancelled, and in a database
    /// of one service at once.
    public func whileWithoutLease(_ body: @Sendable () -> Void) async {
        guard node != nil else { return }
        while !Task.isCancelled {
            if !holdsLease { body() }
            try? await Task.sleep(for: .milliseconds(500))
        }
    }
}

extension StoreError {
    package static let leaseEnded = databaseAway(why: "this node could not renew its lease in the database")

    /// Whether this process is not the node any more, so that it has to begin again.
    package var isLossOfNode: Bool { self == .nodeReplaced || self == .changesLost }
}

/// Expressions about leases in the statements of the nodes, by the clock of the server.
package enum ServerTime {
    /// The present time in milliseconds since 1970 (UTC).
    package static let now = "CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS bigint)"

    /// The database ends a lease this long after its last renewal. In milliseconds.
    package static let leaseDuration: Int64 = 10_000

    /// The lease of a living node ends at most this long after the present time, in milliseconds: its duration, and a margin
    /// for small corrections of the server's clock, which count as no jump (`ServerClock`). A later end was set before the
    /// clock was set back.
    package static let longestRest: Int64 = 14_000

    package static let leaseEnd = "\(now) + \(leaseDuration)"

    /// The condition that a lease has ended, by the server's clock and by the estimate of the node that looks. They
    /// differ after a jump of the server's clock that this node has not noticed yet, and then only a lease that has
    /// ended by both has ended.
    ///
    /// - Parameters:
    ///   - lease: the column `expires_at`. The condition is NULL if it is NULL.
    ///   - own: the parameter with `Cluster.takeoverTime`. NULL is left out.
    package static func hasEnded(_ lease: String, own: String) -> String {
        let clocks = "\(now), CAST(\(own) AS bigint)"
        return "(\(lease) < least(\(clocks)) OR \(lease) > greatest(\(clocks)) + \(longestRest))"
    }
}
