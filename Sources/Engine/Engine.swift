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
    var active: ActiveAttempts { services.active }
    let options: Options
    private let finalizeQueue: FinalizeQueue
    /// Attempts that the writer's thread has begun, for `run()`.
    private let begun = AsyncStream<Attempt>.makeStream()

    public init(
        options: Options = Options(), store: Store, folder: DownloadsFolder, client: CurlClient, log: Logger
    ) {
        self.options = options
        let limits = Limits(options)
        let connections = HostConnections(
            limit: limits.connectionsPerHost, maxAdditional: limits.additionalConnections,
            areClaimed: store.node != nil, onRoom: { store.work(.jobs).set() })
        services = EngineServices(
            store: store, folder: folder, client: client, diskQueues: DiskQueues(), connections: connections,
            active: ActiveAttempts(serviceLimit: RateLimit(bytesPerSecond: limits.rate), connections: connections),
            stop: StopRequest(intervals: options.intervals),
            rehearsalOrigin: options.rehearsalOrigin, minimumSpeedSeconds: options.minimumSpeedSeconds,
            limits: Locked(limits), tracesOrigins: options.tracesOrigins, time: store.time, log: log)
        finalizeQueue = FinalizeQueue(services)
        let active = services.active
        store.exchange.connect {
            [active] in
            active.reports
        } onDemand: { [active] in
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
                group.addTask { [finalizeQueue, active] in
                    await attempt.run(finalizingIn: finalizeQueue)
                    active.remove(attempt)
                    attempt.control.ended.open()
                }
            }
        }
    }

    /// Runs the background workers until the engine stops. Then it stops the attempts, and no more can begin.
    private func runWorkers() async {
        // If no node leads, this one does before the workers of the leader look. After a fault, the worker tries again.
        _ = try? await NodeTakeover(services: services).pass()
        let loop = MaintenanceLoop(
            leads: { [store = services.store] in store.isLeader },
            holdsLease: { [store = services.store] in store.holdsLease }, time: services.time, log: services.log,
            retryInterval: options.intervals.maintenanceRetry)
        await withTaskGroup(of: Void.self) { group in
            guard !isStopping else { return }
            for worker in workers { group.addTask { await loop.run(worker) } }
            await services.stop.wait()
            active.stopAll()
            group.cancelAll()
        }
        // The scheduler may have begun attempts in the meantime.
        active.stopAll()
        begun.continuation.finish()
    }

    private var workers: [any MaintenanceWorker] {
        let intervals = options.intervals
        return [
            Scheduler(
                services: services, limits: { [self] in admissionLimits },
                start: { [self] in start($0) }),
            NodeTakeover(services: services),
            PromotionRecovery(services: services, finalizeQueue: finalizeQueue),
            LeaseMonitor(services: services),
            AttemptRequestReader(services: services),
            AttemptComparison(services: services, interval: intervals.attemptComparison),
            ConnectionClaimer(services: services, limits: { [self] in admissionLimits }),
            ConfigurationReader(services: services),
            FileRemover(services: services),
            ClockMonitor(services: services, interval: intervals.clockCheck),
            BatchFinisher(services: services),
            Checkpointer(
                services: services, diskQueue: services.diskQueues.next(), interval: intervals.checkpoint),
            DeadlineEnforcer(services: services),
            PartExpirer(services: services),
            SessionCloser(services: services),
            FolderMonitor(
                services: services, diskQueue: services.diskQueues.next(), interval: intervals.folderInspection,
                faultInterval: intervals.folderRecovery),
            AcknowledgementMonitor(
                services: services, patience: options.acknowledgementPatience,
                interval: intervals.acknowledgementCheck),
            JournalPruner(services: services, interval: intervals.pruning),
            FinishedJobPruner(services: services, interval: intervals.finishedPruning),
            CountChecker(services: services, interval: intervals.countCheck),
            TableAnalyzer(services: services, interval: intervals.analysis),
            NoteRecorder.refusals(services, interval: intervals.refusals),
            NoteRecorder.tokenUses(services, interval: intervals.tokenUse),
            ThroughputRecorder(services: services),
            SpaceReclaimer(services: services, interval: intervals.spaceCheck),
        ]
    }

    public var measurements: EngineMeasurements { services.measurements }

    /// The live view of a running job; nil when the job has no running attempt. If the job runs on another node, the view is up
    /// to two seconds old, and older while the database is away.
    public func progress(of job: JobID) -> LiveProgress? {
        active[job]?.control.live ?? services.store.exchange[job]?.live
    }

    /// The live view of every running attempt, on all nodes.
    public func progressOfRunning() -> [RunningJob] { active.reports + services.store.exchange.others }

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
        try await findOlderFiles()
        let (interrupted, promoting) = try await services.store.recoverInterrupted()
        // The files first: what another node makes in the meantime is not judged.
        let found = try await services.inFolder { $0.partFiles() }
        let nodes = Set(try await services.store.nodes().map(\.node.number))
        let needed = try await services.store.neededParts()
        let swept = try await services.inFolder { [store = services.store] folder in
            folder.sweepParts(
                found, needed: needed, nodes: nodes,
                sparing: [store.beganAt, folder.claimedSince].compactMap(\.self).max())
        }
        if swept.spared > 0 {
            services.log.warning(
                "\(swept.spared) part files in \(FilePathRule.partsDirectory) of the downloads folder are older than this database, or than its use of the folder, and the database does not know them. fetchd keeps them; remove them if no other copy of the database needs them."
            )
        }
        services.log.info(
            "Recovered. Jobs queued again: \(interrupted). Promotions continued: \(promoting.count). Left-over parts removed: \(swept.removed). Parts cut back to their offsets: \(swept.truncated)."
        )
        await finalizeQueue.complete(promoting)
    }
}

/// Why the engine cannot start, or refuses an action.
public enum EngineError: Error, Sendable, Equatable, CustomStringConvertible {
    case downloadsFolderUnusable(path: String, why: String)
    /// Another service has the folder.
    case downloadsFolderInUse(path: String)
    /// Another database has used the folder, and its file system has no locks.
    case downloadsFolderUncertain(path: String)
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
        case .stopped: "fetchd is stopping, and has not done all of it. Try again when it runs."
        }
    }
}
