import CurlClient
import Downloads
import Foundation
import Locks
import Logging
import Storage

/// Runs the jobs of the store: admits them, runs their attempts, promises their offsets, promotes their files and
/// finishes their batches. docs/architecture.md follows one job through the engine.
public final class Engine: Sendable {
    let services: EngineServices
    let active: ActiveAttempts
    let options: Options
    private let promoter: Promoter
    /// Attempts that the writer's thread has begun, for `run()`.
    private let begun = AsyncStream<Attempt>.makeStream()

    public init(
        options: Options = Options(), store: Store, folder: DownloadsFolder, client: CurlClient, log: Logger
    ) {
        self.options = options
        let limits = Limits(options)
        services = EngineServices(
            store: store, folder: folder, client: client, lanes: DiskLanes(),
            connections: HostConnections(
                limit: limits.connectionsPerHost, maxAdditional: limits.additionalConnections,
                areClaimed: store.node != nil, onRoom: { store.work(.jobs).set() }),
            stop: StopRequest(intervals: options.intervals),
            rehearsalOrigin: options.rehearsalOrigin, minimumSpeedSeconds: options.minimumSpeedSeconds,
            limits: Locked(limits), tracesOrigins: options.tracesOrigins, time: store.time, log: log)
        active = ActiveAttempts(
            serviceLimit: RateLimit(bytesPerSecond: limits.rate), connections: services.connections)
        promoter = Promoter(services, active, lane: services.lanes.next())
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
        let run = AttemptRun(services: services, active: active, promoter: promoter)
        await withDiscardingTaskGroup { group in
            for await attempt in begun.stream {
                group.addTask { [active] in
                    await run(attempt)
                    active.drop(attempt)
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
            leads: { [store = services.store] in store.isLeader }, time: services.time, log: services.log,
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
                services: services, limits: { [self] in admissionLimits }, active: active,
                start: { [self] in start($0) }),
            NodeTakeover(services: services),
            PromotionRecovery(services: services, active: active, promoter: promoter),
            LeaseMonitor(services: services, active: active),
            AttemptRequestReader(services: services, active: active),
            AttemptComparison(services: services, active: active, interval: intervals.attemptComparison),
            ConnectionClaimer(services: services, limits: { [self] in admissionLimits }),
            ConfigurationReader(services: services, active: active),
            FileRemover(services: services),
            ClockMonitor(services: services, interval: intervals.clockCheck),
            BatchFinisher(services: services),
            Checkpointer(
                services: services, active: active, lane: services.lanes.next(), interval: intervals.checkpoint),
            DeadlineEnforcer(services: services, active: active),
            PartExpirer(services: services),
            SessionCloser(services: services),
            FolderMonitor(
                services: services, lane: services.lanes.next(), interval: intervals.folderInspection,
                faultInterval: intervals.folderRecovery),
            AcknowledgementMonitor(
                services: services, patience: options.acknowledgementPatience,
                interval: intervals.acknowledgementCheck),
            JournalPruner(services: services, interval: intervals.pruning),
            FinishedJobPruner(services: services, interval: intervals.finishedPruning),
            CountChecker(services: services, interval: intervals.countCheck),
            TableAnalyzer(services: services, interval: intervals.analysis),
            RefusalRecorder(services: services, interval: intervals.refusals),
            TokenUseRecorder(services: services, interval: intervals.tokenUse),
            ThroughputRecorder(services: services),
            SpaceReclaimer(services: services, interval: intervals.spaceCheck),
        ]
    }

    public var measurements: EngineMeasurements { services.measurements }

    /// The live view of a running job; nil when the job has no running attempt. If the job runs on another node, the view is up
    /// to two seconds old, and older while the database is away.
    public func progress(of job: JobID) -> LiveProgress? {
        active[job]?.live ?? services.store.exchange[job]?.live
    }

    /// The live view of every running attempt, on all nodes.
    public func progressOfRunning() -> [RunningJob] { active.reports + services.store.exchange.others }

    /// Called on the writer's thread, directly after the commit that admits the job.
    private func start(_ admitted: AdmittedJob) {
        let attempt = active.begin(admitted, services)
        guard case .terminated = begun.continuation.yield(attempt) else { return }
        // `run()` was cancelled, so the next start queues the job again.
        active.drop(attempt)
        attempt.control.ended.open()
    }
}

extension Engine {
    /// Restores a consistent state after a start, before any other operation: removes parts without a promise, queues
    /// interrupted jobs again, and completes interrupted promotions.
    public func recover() async throws {
        try await findOlderFiles()
        let (interrupted, promoting) = try await services.store.recoverInterrupted()
        // The files first: what another node makes in the meantime is not judged.
        let found = try await services.lanes.metadata.run { [services] in services.folder.partFiles() }
        let nodes = Set(try await services.store.nodes().map(\.node.number))
        let promised = try await services.store.neededParts()
        let swept = try await services.lanes.metadata.run { [services] in
            services.folder.sweepParts(
                found, promised: promised, nodes: nodes,
                sparing: [services.store.beganAt, services.folder.claimedSince].compactMap(\.self).max())
        }
        if swept.spared > 0 {
            services.log.warning(
                "\(swept.spared) part files in \(FilePathRule.partsDirectory) of the downloads folder are older than this database, or than its use of the folder, and the database does not know them. fetchd keeps them; remove them if no other copy of the database needs them."
            )
        }
        services.log.info(
            "Recovered. Jobs queued again: \(interrupted). Promotions continued: \(promoting.count). Left-over parts removed: \(swept.removed). Parts cut back to their offsets: \(swept.truncated)."
        )
        await promoter.complete(promoting, services)
    }
}
