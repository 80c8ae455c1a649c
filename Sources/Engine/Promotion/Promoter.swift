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
    private let active: ActiveAttempts
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

    init(_ services: EngineServices, _ active: ActiveAttempts, lane: DiskLane) {
        (self.services, self.active, self.lane) = (services, active, lane)
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
    func carryOn(_ interrupted: [PlannedPromotion]) async -> [JobID: PromotionFault] { await place(interrupted) }

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
    private func plan(_ orders: [PromotionOrder]) async -> (
        planned: [PlannedPromotion], failures: [JobID: PromotionFault]
    ) {
        var (open, planned, failures) = (orders, [PlannedPromotion](), [JobID: PromotionFault]())
        while !open.isEmpty {
            let (folder, now) = (services.folder, services.time.now)
            let promotions = (try? await lane.run { [open] in folder.promotions(of: open, at: now) }) ?? []
            var plans: [(planned: PlannedPromotion, report: AttemptReport)] = []
            for (order, promotion) in zip(open, promotions) {
                let job = order.attempt.job
                switch promotion {
                case .success(let promotion):
                    let planned = PlannedPromotion(job: job.id, admission: job.admissions, promotion: promotion)
                    plans.append((planned, order.report))
                case .failure(let fault): failures[job.id] = fault
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

    private func commit(_ plans: [(planned: PlannedPromotion, report: AttemptReport)]) async throws(NotStored)
        -> PromotionRejections
    {
        guard !plans.isEmpty else { return PromotionRejections() }
        let store = services.store
        let signals = plans.map { plan in
            (
                job: plan.planned.job, signal: JobSignal.promotionPlanned(plan.planned.promotion),
                report: plan.report
            )
        }
        return PromotionRejections(
            try await services.persist("\(plans.count) promotions") { try await store.apply(signals) } ?? [:])
    }

    /// Renames, syncs the folders and commits the success. If another file took a name meanwhile, another name is
    /// planned.
    private func place(_ planned: [PlannedPromotion]) async -> [JobID: PromotionFault] {
        guard !planned.isEmpty else { return [:] }
        let folder = services.folder
        let faults = (try? await lane.run { folder.place(planned.map(\.promotion)) }) ?? []
        var placed: [PlannedPromotion] = []
        var again: [PlannedPromotion] = []
        var unsynced: [PlannedPromotion] = []
        var failures: [JobID: PromotionFault] = [:]
        for (planned, fault) in zip(planned, faults) {
            switch fault {
            case nil: placed.append(planned)
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

    /// The jobs stay `promoting` until their files are in their places, and the folders are synced, or the service stops. In the
    /// second case the next start continues them.
    private func placeAgain(_ unsynced: [PlannedPromotion]) async -> [JobID: PromotionFault] {
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

    private func succeed(_ placed: [PlannedPromotion]) async {
        guard !placed.isEmpty else { return }
        let (store, active) = (services.store, active)
        let signals = placed.map { placed in
            (job: placed.job, signal: JobSignal.promoted, report: AttemptReport(admission: placed.admission))
        }
        // If the commit fails, the next start finds the file in its place.
        _ = try? await services.persist("\(placed.count) successes") {
            try await store.apply(signals) { _ in
                for placed in placed { active.end(placed.job, admission: placed.admission) }
            }
        }
    }

    /// Plans another name if a file took the name between the plan and the rename.
    private func replan(_ taken: [PlannedPromotion]) async -> [JobID: PromotionFault] {
        guard !taken.isEmpty else { return [:] }
        let folder = services.folder
        let promotions = (try? await lane.run { taken.map { folder.renamed($0.promotion) } }) ?? []
        var planned: [PlannedPromotion] = []
        var failures: [JobID: PromotionFault] = [:]
        for (taken, promotion) in zip(taken, promotions) {
            switch promotion {
            case .success(let promotion):
                planned.append(PlannedPromotion(job: taken.job, admission: taken.admission, promotion: promotion))
            case .failure(let fault): failures[taken.job] = fault
            }
        }
        let plans = planned.map { ($0, AttemptReport(admission: $0.admission)) }
        guard let verdict = try? await commit(plans) else { return failures }
        failures.merge(await place(planned.filter { !verdict.isAgainst($0.job) })) { first, _ in first }
        return failures
    }
}
