import Base
import Downloads
import Foundation
import Storage

/// Does with the attempts of this node what clients have asked other nodes for: stops them, or gives them changed
/// specifications.
struct AttemptRequestReader: MaintenanceWorker {
    let services: EngineServices

    let purpose = "read the requests of other nodes"
    var trigger: AsyncAutoResetEvent? { services.store.work(.attempts) }

    func pass() async throws -> Date? {
        let requests = try await services.store.attemptRequests()
        // An attempt begins directly after the commit that admits its job, and can have ended since the read.
        let found = requests.map { request in
            (request: request, attempt: services.active.attempt(of: request.job, admission: request.admission))
        }
        for case (let request, let attempt?) in found {
            if let stop = request.stop { attempt.control.requestStop(.decided(stop)) }
        }
        let changed = found.filter { $0.request.stop == nil && $0.attempt != nil }.map(\.request.job)
        try await services.store.consumeChangedSpecifications(of: changed) { [services] jobs in
            for job in jobs { services.active[job.id]?.control.apply(job.spec) }
        }
        let areAllFound = found.allSatisfy { $0.attempt != nil }
        return areAllFound ? nil : services.time.now.addingTimeInterval(Self.secondLook)
    }

    private static let secondLook: TimeInterval = 0.2
}

/// Applies the rate limits of sessions to running transfers, after another node has changed a configuration.
struct ConfigurationReader: MaintenanceWorker {
    let services: EngineServices

    let purpose = "read the changed configurations of sessions"
    var trigger: AsyncAutoResetEvent? { services.store.work(.configurations) }

    func pass() async throws -> Date? {
        guard services.store.node != nil else { return nil }
        try await services.store.consumeConfigurations { [services] in
            services.active.sessionNames
        } onCommit: { [services] configurations in
            for (name, configuration) in configurations { services.active.limit(name, to: configuration.rateLimit) }
        }
        return nil
    }
}

/// Claims the additional connections of this node in the database, before they are opened, and gives them back.
struct ConnectionClaimer: MaintenanceWorker {
    let services: EngineServices
    /// The present limits, without the connections that are taken.
    let limits: @Sendable () -> AdmissionLimits

    let purpose = "claim additional connections"
    var trigger: AsyncAutoResetEvent? { services.connections.claimsDue }

    func pass() async throws -> Date? {
        guard services.store.node != nil else { return nil }
        if let claims = services.connections.consumeClaims() {
            // If the write fails, the callers want their connections again.
            let granted = try await services.store.claimConnections(claims.used, wanted: claims.wanted, limits)
            services.connections.grant(granted)
        }
        return services.connections.hasSurplus ? services.time.now.addingTimeInterval(Self.giveBackInterval) : nil
    }

    /// Seconds after which connections that are not used are given back.
    private static let giveBackInterval: TimeInterval = 1
}

/// Removes files from the folder of this node that other nodes have dropped.
struct FileRemover: MaintenanceWorker {
    let services: EngineServices

    let purpose = "remove files that other nodes have dropped"
    var trigger: AsyncAutoResetEvent? { services.store.work(.removals) }

    func pass() async throws -> Date? {
        var (failed, example): (Int, DiskError?) = (0, nil)
        var last: Removal?
        repeat {
            let removals = try await services.store.removals(after: last)
            let faults = try await remove(removals)
            try await services.store.forget(zip(removals, faults).compactMap { $1 == nil ? $0 : nil })
            failed += faults.count { $0 != nil }
            example = example ?? faults.compactMap(\.self).first
            last = removals.last
        } while last != nil && !Task.isCancelled
        guard let example else { return nil }
        services.log.warning(
            "\(failed) files that other nodes have dropped cannot be removed, for example: could not \(example.action): \(example.reason). fetchd tries again in a minute."
        )
        return services.time.now.addingTimeInterval(Self.retryInterval)
    }

    /// - Returns: for each file, why it could not be removed; nil when it is gone.
    private func remove(_ removals: [Removal]) async throws -> [DiskError?] {
        try await services.inFolder { folder in
            removals.map { removal in
                DiskError.of { () throws(DiskError) in try folder.remove(removal.subject) }
            }
        }
    }

    private static let retryInterval: TimeInterval = 60
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
