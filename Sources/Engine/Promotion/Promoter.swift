import Downloads
import Foundation
import Metrics
import Storage

/// Turns verified parts into files: sync, commit `promoting`, rename, sync the folder, commit `succeeded`.
///
/// The orders that arrive during one round are handled in the next round. So many small files share their syncs and
/// commits, as writers share a commit in the store. Every step can be repeated after a crash.
actor Promoter {
    typealias PromotionFault = DownloadsFolder.PromotionFault

    private let services: EngineServices
    private let lane: DiskLane
    /// Called on the writer's thread, directly after the commit by which these jobs succeeded.
    private let onSuccess: @Sendable (JobID) -> Void
    private var waiting: [Waiting] = []
    private var isRunning = false

    private struct Waiting {
        var order: PromotionOrder
        var continuation: CheckedContinuation<Turn, Never>
    }

    /// The result of an order's wait for its round.
    private enum Turn {
        case promoted(PromotionFault?)
        /// The order leads the next round.
        case leads
    }

    /// A promotion whose plan is committed.
    private struct Planned {
        var job: JobID
        var promotion: Promotion
    }

    init(_ services: EngineServices, lane: DiskLane, onSuccess: @escaping @Sendable (JobID) -> Void) {
        self.services = services
        self.lane = lane
        self.onSuccess = onSuccess
    }

    /// Returns when the file is in its place and the job has succeeded, or when the engine stops before that is stored.
    ///
    /// The first order that arrives runs the round for all waiting orders, in its own task.
    ///
    /// - Returns: why the file could not be promoted; nil when it was, or when the engine stops.
    func promote(_ order: PromotionOrder) async -> PromotionFault? {
        if isRunning, case .promoted(let failure) = await turn(of: order) { return failure }
        isRunning = true
        let others = waiting
        waiting.removeAll()
        let failures = await run([order] + others.map(\.order))
        for other in others {
            other.continuation.resume(returning: .promoted(failures[other.order.attempt.job.id]))
        }
        handOver()
        return failures[order.attempt.job.id]
    }

    private func turn(of order: PromotionOrder) async -> Turn {
        await withCheckedContinuation { waiting.append(Waiting(order: order, continuation: $0)) }
    }

    private func handOver() {
        isRunning = !waiting.isEmpty
        if isRunning { waiting.removeFirst().continuation.resume(returning: .leads) }
    }

    /// Continues the promotions that were committed before a restart.
    ///
    /// - Returns: the jobs whose file could not be moved to its place, with the reason.
    func carryOn(_ interrupted: [(job: JobID, promotion: Promotion)]) async -> [JobID: PromotionFault] {
        await place(interrupted.map { Planned(job: $0.job, promotion: $0.promotion) })
    }

    private func run(_ orders: [PromotionOrder]) async -> [JobID: PromotionFault] {
        var failures = await sync(orders)
        let durable = orders.filter { failures[$0.attempt.job.id] == nil }
        let (planned, faults) = await plan(durable)
        failures.merge(faults) { first, _ in first }
        failures.merge(await place(planned)) { first, _ in first }
        return failures
    }

    private func sync(_ orders: [PromotionOrder]) async -> [JobID: PromotionFault] {
        let (folder, syncs) = (services.folder, services.measurements.syncs)
        let faults =
            (try? await lane.run { () -> [DiskError?] in
                // Another program may have moved the folder away, with the parts in it.
                if let fault = folder.inspect(byWriting: false) { return orders.map { _ in fault } }
                let watch = Stopwatch()
                defer { syncs.record(watch) }
                return folder.publish(orders.map(\.whole.file))
            }) ?? []
        return zip(orders, faults).reduce(into: [:]) { $0[$1.0.attempt.job.id] = $1.1.map(PromotionFault.disk) }
    }

    /// Plans the names and commits the plans. A job whose destination was patched in between is planned again.
    private func plan(_ orders: [PromotionOrder]) async -> (planned: [Planned], failures: [JobID: PromotionFault]) {
        var (open, planned, failures) = (orders, [Planned](), [JobID: PromotionFault]())
        while !open.isEmpty {
            let (folder, now) = (services.folder, services.time.now)
            let promotions = (try? await lane.run { [open] in folder.promotions(of: open, at: now) }) ?? []
            var plans: [(planned: Planned, report: AttemptReport)] = []
            for (order, promotion) in zip(open, promotions) {
                let job = order.attempt.job.id
                switch promotion {
                case .success(let promotion): plans.append((Planned(job: job, promotion: promotion), order.report))
                case .failure(let fault): failures[job] = fault
                }
            }
            // Without the commit the promotion is not carried out, and the next start finds the part unchanged.
            guard let verdict = try? await commit(plans) else { break }
            failures.merge(verdict.excess.mapValues(PromotionFault.excess)) { $1 }
            planned += plans.map(\.planned).filter { !verdict.isAgainst($0.job) }
            open = open.compactMap { order in
                guard let job = verdict.stale[order.attempt.job.id] else { return nil }
                // If another node has made the patch, this attempt does not know it yet.
                order.attempt.take(job.spec)
                return order.renewed
            }
        }
        return (planned, failures)
    }

    /// The plans of a round that were not stored.
    private struct Rejections {
        /// The jobs whose destination was patched meanwhile.
        var stale: [JobID: Job] = [:]
        /// The jobs whose file does not fit into its session any more.
        var excess: [JobID: SizeLimit] = [:]

        init(_ outcomes: [JobID: SignalOutcome] = [:]) {
            for (job, outcome) in outcomes {
                switch outcome {
                case .stale(let present): stale[job] = present
                case .excess(_, let limit): excess[job] = limit
                case .done, .refused: break
                }
            }
        }

        func isAgainst(_ job: JobID) -> Bool { stale[job] != nil || excess[job] != nil }
    }

    @discardableResult
    private func commit(_ plans: [(planned: Planned, report: AttemptReport)]) async throws(NotStored) -> Rejections {
        guard !plans.isEmpty else { return Rejections() }
        let store = services.store
        let signals = plans.map { plan in
            (job: plan.planned.job, signal: JobSignal.promotionPlanned(plan.planned.promotion), report: plan.report)
        }
        return Rejections(
            try await services.persist("\(plans.count) promotions") { try await store.apply(signals) } ?? [:])
    }

    /// Renames, syncs the folders and commits the success. If another file took a name meanwhile, another name is
    /// planned.
    private func place(_ planned: [Planned]) async -> [JobID: PromotionFault] {
        guard !planned.isEmpty else { return [:] }
        let folder = services.folder
        let faults = (try? await lane.run { folder.place(planned.map(\.promotion)) }) ?? []
        var placed: [JobID] = []
        var again: [Planned] = []
        var unsynced: [Planned] = []
        var failures: [JobID: PromotionFault] = [:]
        for (planned, fault) in zip(planned, faults) {
            switch fault {
            case nil: placed.append(planned.job)
            case .nameTaken?: again.append(planned)
            case .unsynced?: unsynced.append(planned)
            // The service ends, or it has its lease again soon.
            case .disk(let error)? where error.isLeaseLost: unsynced.append(planned)
            case let fault?: failures[planned.job] = fault
            }
        }
        await succeed(placed)
        failures.merge(await replan(again)) { first, _ in first }
        failures.merge(await placeAgain(unsynced)) { first, _ in first }
        return failures
    }

    /// The jobs stay `promoting` until their files are in their places, and the folders are synced, or the service stops. In the second case the next start
    /// continues them.
    private func placeAgain(_ unsynced: [Planned]) async -> [JobID: PromotionFault] {
        guard let first = unsynced.first else { return [:] }
        services.log.error(
            "Could not move \(unsynced.count) files to their places, or sync their folders, such as \(first.promotion.file.path). fetchd tries again until it stops."
        )
        guard await services.stop.pauseBeforeRepeating(by: services.time) else {
            services.store.unstored.note()
            return [:]
        }
        return await place(unsynced)
    }

    private func succeed(_ jobs: [JobID]) async {
        guard !jobs.isEmpty else { return }
        let (store, onSuccess) = (services.store, onSuccess)
        let signals = jobs.map { (job: $0, signal: JobSignal.promoted, report: AttemptReport()) }
        // If the commit fails, the next start finds the file in its place.
        _ = try? await services.persist("\(jobs.count) successes") {
            try await store.apply(signals) { _ in jobs.forEach(onSuccess) }
        }
    }

    /// Plans another name if a file took the name between the plan and the rename.
    private func replan(_ taken: [Planned]) async -> [JobID: PromotionFault] {
        guard !taken.isEmpty else { return [:] }
        let folder = services.folder
        let promotions = (try? await lane.run { taken.map { folder.renamed($0.promotion) } }) ?? []
        var planned: [Planned] = []
        var failures: [JobID: PromotionFault] = [:]
        for (taken, promotion) in zip(taken, promotions) {
            switch promotion {
            case .success(let promotion): planned.append(Planned(job: taken.job, promotion: promotion))
            case .failure(let fault): failures[taken.job] = fault
            }
        }
        guard (try? await commit(planned.map { ($0, AttemptReport()) })) != nil else { return failures }
        failures.merge(await place(planned)) { first, _ in first }
        return failures
    }
}
