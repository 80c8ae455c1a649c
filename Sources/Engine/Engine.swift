import Base
import CurlClient
import Downloads
import Foundation
import Logging
import Storage

/// Runs the jobs of the store: admits them, runs their attempts, stores their offsets, finalizes their files and
/// finishes their batches. docs/architecture.md follows one job through the engine.
public final class Engine: Sendable {
    let services: EngineServices
    let finalizeQueues: FinalizeQueues
    /// Attempts that the writer's thread has begun, for `run()`.
    private let begun = AsyncStream<Attempt>.makeStream()

    var active: ActiveAttempts { services.active }
    public var store: Store { services.store }
    public var measurements: EngineMeasurements { services.measurements }

    public init(options: Options = Options(), store: Store, locations: Locations, client: CurlClient, log: Logger) {
        services = EngineServices(options: options, store: store, locations: locations, client: client, log: log)
        finalizeQueues = FinalizeQueues(services)
        let active = services.active
        store.exchange.connect {
            active.reports
        } onDemand: {
            active.divide(by: $0)
        }
        store.exchange.reportSlots { [limits = services.limits] in limits.withLock(\.jobs) }
    }

    /// Runs until `stop()` was called and every attempt has ended: its bytes are synced and its job is queued. Two
    /// seconds after `stop()` the engine gives up writes that the disk refuses, and `Store.unstored` counts them.
    ///
    /// Call `recover()` first. Cancelling the task has the effect of `stop()`, but failed writes are then not repeated.
    public func run() async {
        await withTaskCancellationHandler {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.runWorkers() }
                await self.runAttempts()
            }
        } onCancel: {
            stop()
        }
    }

    /// Ends `run()`. Also ends `recover()` if that is repeating a failed write.
    public func stop() {
        services.store.drain()
        services.stop.make()
    }

    public var isStopping: Bool { services.stop.isMade }

    private func runAttempts() async {
        await withDiscardingTaskGroup { group in
            for await attempt in begun.stream {
                group.addTask { [finalizeQueues, active] in
                    await attempt.run(finalizingIn: finalizeQueues[attempt.location])
                    active.remove(attempt)
                    attempt.control.ended.open()
                }
            }
        }
    }

    /// Runs the background workers until the engine stops. Then it stops the attempts, and no more can begin.
    private func runWorkers() async {
        // If no service leads, this one does before the workers ask. After a fault, the worker tries again.
        _ = try? await services.takeOverNodes()
        let loop = MaintenanceLoop(time: services.time, log: services.log)
        await withTaskGroup(of: Void.self) { group in
            guard !isStopping else { return }
            let workers = dueWorkers + services.locations.all.flatMap(workers) + periodicWorkers + clusterWorkers
            for worker in workers { group.addTask { await loop.run(worker) } }
            await services.stop.wait()
            active.stopAll()
            group.cancelAll()
        }
        // The scheduler may have begun attempts in the meantime.
        active.stopAll()
        begun.continuation.finish()
    }

    /// The workers that begin when there is something to do.
    private var dueWorkers: [MaintenanceWorker] {
        let leads = services.leads
        let scheduler = Scheduler(
            services: services, limits: { [self] in admissionLimits }, start: { [self] in start($0) })
        let pruner = FinishedJobPruner(services: services)
        return [
            MaintenanceWorker("admit jobs", on: store.work(.jobs), if: services.holdsLease, scheduler.pass),
            MaintenanceWorker("finish batches", on: store.work(.batches), if: leads, services.finishBatches),
            MaintenanceWorker(
                "fail the jobs that have run out of time", on: store.work(.deadlines), if: leads,
                services.failOverdueJobs),
            MaintenanceWorker("remove resume data", on: store.work(.parts), if: leads, services.expireParts),
            MaintenanceWorker("close deleted sessions", on: store.work(.sessions), if: leads) { [services] in
                try await services.closeSessions()
                return nil
            },
            MaintenanceWorker(
                "read the finishes that are not acknowledged", if: leads, services.warnOfUnacknowledgedFinishes),
            MaintenanceWorker("prune the journal", on: services.journalRetention, if: leads, services.pruneJournal),
            MaintenanceWorker("remove finished jobs", on: services.finishedRetention, if: leads, pruner.pass),
            MaintenanceWorker("store the throughput", services.storeThroughput),
            MaintenanceWorker("store the gates of hosts", on: services.gates.changed, services.storeHosts),
            MaintenanceWorker("claim starts of requests", on: services.gates.claimsDue, services.claimStarts),
            MaintenanceWorker("read the gates of hosts", on: store.work(.hosts), services.readHosts),
        ]
    }

    /// The workers of one location. Those of others do not wait for its disk.
    private func workers(of location: Location) -> [MaintenanceWorker] {
        let folder = FolderMonitor(services: services, location: location, finalizeQueue: finalizeQueues[location])
        let common = [
            MaintenanceWorker(
                "commit offsets", on: location.firstBegun, Checkpointer(services: services, location: location).pass),
            MaintenanceWorker(FolderMonitor.purpose, on: location.health.doubts, folder.pass),
        ]
        guard let bucket = location.bucket else {
            return common + [MaintenanceWorker("watch the folder of a location", folder.watch)]
        }
        let upkeep = BucketUpkeep(services: services, location: location, store: bucket)
        return common + [
            MaintenanceWorker("continue promotions to a bucket", on: location.promotionsDue, upkeep.continuePromotions),
            MaintenanceWorker(
                "remove what is left of uploads", on: location.leftOversDue, if: services.leads,
                upkeep.removeLeftOvers),
        ]
    }

    private var periodicWorkers: [MaintenanceWorker] {
        let (time, store) = (services.time, store)
        return [
            MaintenanceWorker("store the time", services.followClock),
            MaintenanceWorker(
                "compare the kept counts with a full count", every: 3600, by: time, if: services.leads,
                services.checkCounts),
            MaintenanceWorker("make the database file smaller", every: 3600, by: time, services.reclaimSpace),
            // Requests note these in memory: a commit for each request would cost more than the request.
            MaintenanceWorker("store refused requests", every: 60, by: time) { try await store.storeRefusals() },
            MaintenanceWorker("store when tokens were last used", every: 60, by: time) {
                try await store.storeTokenUses()
            },
        ]
    }

    /// The live view of a running job; nil when the job does not run. If another service of the database runs the job, the
    /// view is up to two seconds old, and older while the database is away.
    public func progress(of job: Job) -> LiveProgress? {
        guard job.state.name == .running else { return nil }
        return active[job.id]?.control.live ?? store.exchange[job.id]?.live
    }

    /// The live view of every running attempt, in all services of the database.
    public func progressOfRunning() -> [RunningJob] { active.reports + store.exchange.others }

    /// Why queued jobs do not run yet, and their places in the queue. Other jobs have no entry.
    public func queueEntries(of jobs: [Job]) async throws(StoreError) -> [JobID: QueueEntry] {
        let queued = jobs.filter { $0.state == .queued }
        guard !queued.isEmpty else { return [:] }
        return try await store.queueEntries(of: queued, admissionLimits.with(services.connections.taken))
    }

    /// Called on the writer's thread, directly after the commit that admits the job.
    private func start(_ admitted: AdmittedJob) {
        let attempt = active.begin(admitted, services)
        guard case .terminated = begun.continuation.yield(attempt) else { return }
        // `run()` was cancelled, so the next start queues the job again.
        active.remove(attempt)
        attempt.control.ended.open()
    }
}

extension Engine {
    /// Restores a consistent state after a start, before any other operation: removes parts that no job needs, queues
    /// interrupted jobs again, and completes interrupted promotions.
    public func recover() async throws {
        try await services.findOlderFiles()
        services.gates.restore(try await store.hosts())
        let (interrupted, promoting) = try await store.recoverInterrupted()
        var swept = (removed: 0, truncated: 0, spared: 0)
        for location in await services.locations.open() {
            if let fault = location.health.fault {
                services.log.error("\(location.title) \(fault.asFolderFault)")
                continue
            }
            try await services.noteFolder(of: location)
            let counts = try await services.sweepParts(in: location)
            swept = (swept.removed + counts.removed, swept.truncated + counts.truncated, swept.spared + counts.spared)
        }
        if swept.spared > 0 {
            services.log.warning(
                "\(swept.spared) part files in \(FilePathRule.partsDirectory) of the downloads folder are older than this database, or than its use of the folder, and the database does not know them. fetchd keeps them; remove them if no other copy of the database needs them."
            )
        }
        services.log.info(
            "Recovered. Jobs queued again: \(interrupted). Promotions continued: \(promoting.count). Left-over parts removed: \(swept.removed). Parts cut back to their offsets: \(swept.truncated)."
        )
        for name in try await store.jobsWaitingForLocations().keys.sorted(by: { $0.text < $1.text })
        where services.locations[name] == nil { services.report(undeclared: name) }
        await finalizeQueues.complete(promoting)
    }
}

/// Why the engine cannot start, or refuses an action.
public enum EngineError: Error, Sendable, Equatable, CustomStringConvertible {
    case downloadsFolderUnusable(path: String, why: String)
    /// Another service has the folder.
    case downloadsFolderInUse(path: String)
    /// Another database has used the folder, and its file system has no locks.
    case downloadsFolderUncertain(path: String)
    /// The file of a job is in a location that is not declared, or does not work now.
    case fileOutOfReach(Name, isDeclared: Bool)
    /// The file of a job is an object in the bucket of this location.
    case bucketUnusable(Name, why: String)
    /// The engine is stopping: it begins no further step of an action, or its disk fails and no change can be stored.
    case stopped

    public var description: String {
        switch self {
        case .downloadsFolderUnusable(let path, let why):
            "The downloads folder \(path) cannot be used: \(why). Check that it exists and may be written."
        case .downloadsFolderInUse(let path):
            "The downloads folder \(path) belongs to another fetchd that is running. Each would remove the unfinished downloads of the other. Stop it, or start this one with another --downloads-dir. Only services of one PostgreSQL database can share a folder, if all of them are started with --downloads shared."
        case .downloadsFolderUncertain(let path):
            "The downloads folder \(path) was last used with another database, and its file system has no locks, which would show whether that fetchd is still running. If none is, remove \(path)/\(FilePathRule.partsDirectory)/\(FolderClaim.name) and start again: fetchd then takes the folder. Otherwise name another --downloads-dir."
        case .fileOutOfReach(let location, let isDeclared):
            "The file is in the location \(location), which \(isDeclared ? "does not work now" : "no option declares"). The job can be deleted without its file."
        case .bucketUnusable(let location, let why): "The bucket of the location \(location) cannot be used: \(why)."
        case .stopped: "fetchd is stopping, and has not done all of it. Try again when it runs."
        }
    }
}
