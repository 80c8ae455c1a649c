import Base
import Downloads
import Foundation
import Storage

/// Takes over the jobs of nodes whose leases have ended.
struct NodeTakeover: MaintenanceWorker {
    let services: EngineServices

    let purpose = "take over the jobs of a node that has ended"
    var trigger: AsyncAutoResetEvent? { services.store.work(.nodes) }

    func pass() async throws -> Date? {
        // If the answer to an earlier commit was lost, promotions were perhaps taken over.
        defer { services.takenPromotions.set() }
        var isComplete = false
        while !isComplete {
            let takeover = try await services.store.takeOverNodes()
            isComplete = takeover.isComplete
            report(takeover)
        }
        return nil
    }

    private func report(_ takeover: Takeover) {
        for node in takeover.nodes {
            services.log.warning("Node \(node) did not renew its lease. Its jobs continue on other nodes.")
        }
        guard takeover.queued + takeover.promoting > 0 else { return }
        services.log.notice(
            "This node has taken over jobs. Queued again: \(takeover.queued). Promotions continued: \(takeover.promoting)."
        )
    }
}

/// Continues the promotions that this node has taken over from another one.
///
/// It finds them in the store: jobs that are being promoted at this node without an attempt. So none is forgotten if the answer to
/// the commit of a takeover is lost.
struct PromotionRecovery: MaintenanceWorker {
    let services: EngineServices
    let finalizeQueue: FinalizeQueue

    let purpose = "continue the promotions of a node that has ended"
    var trigger: AsyncAutoResetEvent? { services.takenPromotions }

    func pass() async throws -> Date? {
        let left = try await services.store.ownPromotions { [services] in services.active[$0] == nil }
        await finalizeQueue.complete(left)
        return nil
    }
}

/// Compares the jobs that run at this node, as the database has them, with its attempts.
///
/// After a failover to a standby that lacks the last commits, a job can be running again in the database whose attempt has ended here.
/// Without an attempt, it would run for ever. A job is queued again if two passes find no attempt: one that has just been admitted
/// gets its attempt directly after the commit.
struct AttemptComparison: MaintenanceWorker {
    let services: EngineServices
    /// Seconds between two comparisons.
    let interval: TimeInterval
    /// The jobs without an attempt in the last pass.
    private var suspects: Set<OwnJob> = []

    init(services: EngineServices, interval: TimeInterval) {
        self.services = services
        self.interval = interval
    }

    let purpose = "compare the running jobs of this node with its transfers"
    let needsLease = true

    mutating func pass() async throws -> Date? {
        let store = services.store
        guard store.node != nil else { return nil }
        let hasNoAttempt = { @Sendable [services] (own: OwnJob) in
            services.active.attempt(of: own.job, admission: own.admission) == nil
        }
        let found = try await store.ownJobs().filter(hasNoAttempt)
        let again = found.intersection(suspects)
        suspects = found
        if again.contains(where: \.isPromoting) { services.takenPromotions.set() }
        let queued = try await store.interrupt(again.filter { !$0.isPromoting }, where: hasNoAttempt)
        if queued > 0 {
            services.log.warning(
                "\(queued) jobs were running at this node in the database, and had no transfer. They are queued again.")
        }
        return services.time.now.addingTimeInterval(interval)
    }
}

/// Stops the attempts when the lease of this node cannot be renewed: other nodes may take over its jobs soon. The jobs are
/// queued again as soon as the database can be reached.
struct LeaseMonitor: MaintenanceWorker {
    let services: EngineServices
    private var held = true

    init(services: EngineServices) { self.services = services }

    let purpose = "watch the lease of this node"

    mutating func pass() async throws -> Date? {
        guard services.store.node != nil else { return nil }
        let holds = services.store.holdsLease
        if !holds { services.active.stopAll() }
        if held != holds { report(holds) }
        held = holds
        return services.time.now.addingTimeInterval(Self.interval)
    }

    private func report(_ holds: Bool) {
        guard holds else {
            return services.log.error(
                "This node cannot renew its lease in the database. Its transfers stop, because other nodes may take over."
            )
        }
        services.log.notice("This node has renewed its lease, and begins transfers again.")
        services.store.work(.jobs).set()
    }

    private static let interval: TimeInterval = 0.5
}

extension Engine {
    /// Parts and files without a node are older than the nodes. They belong to the node whose folder has them, so each node looks
    /// for them at its start until that node is known.
    func findOlderFiles() async throws {
        let store = services.store
        guard store.node != nil, store.firstNode == nil else { return }
        let (parts, files) = try await store.filesWithoutNode()
        let areHere = try await services.inFolder { folder in
            parts.contains { folder.hasFile(of: $0) } || files.contains { folder.openFile($0) != nil }
        }
        // If there are none, no later start needs to look.
        if areHere || parts.isEmpty && files.isEmpty { try await store.becomeFirstNode() }
    }
}
