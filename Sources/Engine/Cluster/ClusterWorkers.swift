import Base
import Downloads
import Foundation
import Storage

/// The background workers of a service that shares its database with others.
extension Engine {
    var clusterWorkers: [MaintenanceWorker] {
        guard store.sharesDatabase else { return [] }
        let (time, store) = (services.time, store)
        let comparison = AttemptComparison(services: services)
        let monitor = LeaseMonitor(services: services)
        return [
            MaintenanceWorker("take over the jobs of a node that has ended", on: store.work(.nodes)) { [services] in
                try await services.takeOverNodes()
                return nil
            },
            // The promotions are found in the store, so none is forgotten if the answer to the commit of a takeover is lost.
            MaintenanceWorker("continue the promotions of a node that has ended", on: services.takenPromotions) {
                [finalizeQueues, active] in
                await finalizeQueues.complete(try await store.ownPromotions { active[$0] == nil })
                return nil
            },
            MaintenanceWorker("watch the lease of this node", every: 0.5, by: time, monitor.pass),
            MaintenanceWorker(
                "compare the running jobs of this node with its transfers", every: 10, by: time,
                if: services.holdsLease, comparison.pass),
            MaintenanceWorker(
                "read the requests of other nodes", on: store.work(.attempts), services.readAttemptRequests),
            MaintenanceWorker("read the changed configurations of sessions", on: store.work(.configurations)) {
                [active] in
                try await store.consumeConfigurations {
                    active.sessionNames
                } onCommit: { configurations in
                    for (name, configuration) in configurations { active.limit(name, to: configuration.rateLimit) }
                }
                return nil
            },
            MaintenanceWorker("claim additional connections", on: services.connections.claimsDue) { [self] in
                try await claimConnections()
            },
            MaintenanceWorker(
                "remove files that other nodes have dropped", on: store.work(.removals), services.removeDroppedFiles),
            // SQLite needs no statistics: its statements name their indexes.
            MaintenanceWorker("analyze the tables of the database", every: 15, by: time, if: services.leads) {
                try await store.analyzeGrownTables()
            },
        ]
    }

    /// Claims the additional connections of this node in the database, before they are opened, and gives them back.
    private func claimConnections() async throws -> Date? {
        if let claims = services.connections.consumeClaims() {
            // If the write fails, the callers want their connections again.
            services.connections.grant(
                try await store.claimConnections(claims.used, wanted: claims.wanted) { [self] in admissionLimits })
        }
        // Connections that are not used are given back after a second.
        return services.connections.hasSurplus ? services.time.now.addingTimeInterval(1) : nil
    }
}

extension EngineServices {
    /// Whether this service does the work that one service does for all.
    var leads: @Sendable () -> Bool { { [store] in store.isLeader } }

    /// Whether this service may begin work for its jobs. Others may take over what it begins without its lease.
    var holdsLease: @Sendable () -> Bool { { [store] in store.holdsLease } }

    /// Whether another service has the attempt of a running job.
    func isElsewhere(_ job: Job) -> Bool { job.node.map { $0 != store.node?.number } ?? false }
}

// MARK: - Takeover

extension EngineServices {
    /// Takes over the jobs of nodes whose leases have ended.
    func takeOverNodes() async throws {
        // If the answer to an earlier commit was lost, promotions were perhaps taken over.
        defer { takenPromotions.set() }
        var isComplete = false
        while !isComplete {
            let takeover = try await store.takeOverNodes()
            isComplete = takeover.isComplete
            for node in takeover.nodes {
                log.warning("Node \(node) did not renew its lease. Its jobs continue on other nodes.")
            }
            guard takeover.queued + takeover.promoting > 0 else { continue }
            log.notice(
                "This node has taken over jobs. Queued again: \(takeover.queued). Promotions continued: \(takeover.promoting)."
            )
        }
    }

    /// Parts and files without a node are older than the nodes. They belong to the node whose folder has them, so each node looks
    /// for them at its start until that node is known.
    func findOlderFiles() async throws {
        guard store.sharesDatabase, store.firstNode == nil else { return }
        let (parts, files) = try await store.filesWithoutNode()
        // Parts and files that are older than the nodes are older than the other locations, too.
        let areHere = try await locations.main.inFolder { folder in
            parts.contains { folder.hasFile(of: $0) } || files.contains { folder.openFile($0) != nil }
        }
        // If there are none, no later start needs to look.
        if areHere || parts.isEmpty && files.isEmpty { try await store.becomeFirstNode() }
    }

    /// Removes the parts of a location that no job needs, and cuts the others to their offsets.
    func sweepParts(in location: Location) async throws -> (removed: Int, truncated: Int, spared: Int) {
        // The files first: what another node makes in the meantime is not judged.
        let found = try await location.inFolder { $0.partFiles() }
        let nodes = Set(try await store.nodes().map(\.node.number))
        let needed = try await store.neededParts()
        return try await location.inFolder { [store] folder in
            folder.sweepParts(
                found, needed: needed, owners: nodes,
                sparing: [store.beganAt, folder.claimedSince].compactMap(\.self).max())
        }
    }
}

/// Compares the jobs that run at this node, as the database has them, with its attempts.
///
/// After a failover to a standby that lacks the last commits, a job can be running again in the database whose attempt has ended here.
/// Without an attempt, it would run for ever. A job is queued again if two passes find no attempt: one that has just been admitted
/// gets its attempt directly after the commit.
struct AttemptComparison: Sendable {
    let services: EngineServices
    /// The jobs without an attempt in the last pass.
    private let suspects = Locked<Set<OwnJob>>([])

    func pass() async throws {
        let hasNoAttempt = { @Sendable [active = services.active] (own: OwnJob) in
            active.attempt(of: own.job, admission: own.admission) == nil
        }
        let found = try await services.store.ownJobs().filter(hasNoAttempt)
        let again = suspects.withLock { suspects in
            defer { suspects = found }
            return found.intersection(suspects)
        }
        if again.contains(where: \.isPromoting) { services.takenPromotions.set() }
        let queued = try await services.store.interrupt(again.filter { !$0.isPromoting }, where: hasNoAttempt)
        guard queued > 0 else { return }
        services.log.warning(
            "\(queued) jobs were running at this node in the database, and had no transfer. They are queued again.")
    }
}

/// Stops the attempts when the lease of this node cannot be renewed: other nodes may take over its jobs soon. The jobs are
/// queued again as soon as the database can be reached.
struct LeaseMonitor: Sendable {
    let services: EngineServices
    private let held = Locked(true)

    @Sendable func pass() async {
        let holds = services.store.holdsLease
        if !holds { services.active.stopAll() }
        let hasChanged = held.withLock { held in
            defer { held = holds }
            return held != holds
        }
        guard hasChanged else { return }
        guard holds else {
            return services.log.error(
                "This node cannot renew its lease in the database. Its transfers stop, because other nodes may take over."
            )
        }
        services.log.notice("This node has renewed its lease, and begins transfers again.")
        services.store.work(.jobs).set()
    }
}

// MARK: - What other nodes have asked for

extension EngineServices {
    /// Does with the attempts of this node what clients have asked other nodes for: stops them, or gives them changed
    /// specifications.
    func readAttemptRequests() async throws -> Date? {
        let requests = try await store.attemptRequests()
        // An attempt begins directly after the commit that admits its job, and can have ended since the read.
        let found = requests.map { request in
            (request: request, attempt: active.attempt(of: request.job, admission: request.admission))
        }
        for case (let request, let attempt?) in found {
            if let stop = request.stop { attempt.control.requestStop(.decided(stop)) }
        }
        let changed = found.filter { $0.request.stop == nil && $0.attempt != nil }.map(\.request.job)
        try await store.consumeChangedSpecifications(of: changed) { [active] jobs in
            for job in jobs { active[job.id]?.control.apply(job.spec) }
        }
        return found.allSatisfy { $0.attempt != nil } ? nil : time.now.addingTimeInterval(0.2)
    }

    /// Removes files from the folder of this node that other nodes have dropped.
    func removeDroppedFiles() async throws -> Date? {
        var (failed, example): (Int, DiskError?) = (0, nil)
        var last: Removal?
        repeat {
            let removals = try await store.removals(after: last)
            // For each file, why it could not be removed; nil when it is gone.
            var faults: [DiskError?] = []
            for removal in removals { faults.append(await remove(removal.subject)) }
            try await store.forget(zip(removals, faults).compactMap { $1 == nil ? $0 : nil })
            failed += faults.count { $0 != nil }
            example = example ?? faults.compactMap(\.self).first
            last = removals.last
        } while last != nil && !Task.isCancelled
        guard let example else { return nil }
        log.warning(
            "\(failed) files that other nodes have dropped cannot be removed, for example: could not \(example.action): \(example.reason). fetchd tries again in a minute."
        )
        return time.now.addingTimeInterval(60)
    }
}

extension EngineServices {
    private func remove(_ subject: Removal.Subject) async -> DiskError? {
        let name =
            switch subject {
            case .file(let file): file.location ?? .default
            case .part(let id): id.location
            }
        guard let location = locations[name] else { return .undeclared(name) }
        let removed = try? await location.inFolder { folder in
            DiskError.of { () throws(DiskError) in try folder.remove(subject) }
        }
        return removed ?? nil
    }
}

extension DownloadsFolder {
    fileprivate func remove(_ subject: Removal.Subject) throws(DiskError) {
        switch subject {
        case .file(let file): try removeFile(file)
        case .part(let id):
            let code = removePart(id)
            guard code == 0 || code == ENOENT else { throw DiskError("remove the part", code: code) }
        }
    }
}
