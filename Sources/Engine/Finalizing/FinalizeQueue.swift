import Base
import Downloads
import Foundation
import Storage

/// Turns verified parts into files: sync, commit `promoting`, rename, sync the folder, commit `succeeded`.
///
/// The requests that arrive during one round are handled in the next round. So many small files share their syncs and
/// commits, as writers share a commit in the store. Every step can be repeated after a crash.
actor FinalizeQueue {
    typealias PromotionFault = DownloadsFolder.PromotionFault

    private let services: EngineServices
    private let diskQueue: DiskQueue
    private var waiting: [Waiting] = []
    private var isRunning = false

    private struct Waiting {
        var request: FinalizeRequest
        var continuation: CheckedContinuation<Role, Never>
    }

    /// What a request does after it has waited for its round.
    private enum Role {
        /// Another request has led the round; nil: the file is in its place.
        case follower(PromotionFault?)
        /// The request leads the next round.
        case leader
    }

    init(_ services: EngineServices) {
        self.services = services
        diskQueue = services.diskQueues.next()
    }

    /// Returns when the file is in its place and the job has succeeded, or when the engine stops before that is stored.
    ///
    /// The first request that arrives runs the round for all waiting requests, in its own task.
    ///
    /// - Returns: why the file could not be moved to its place; nil when it was, or when the engine stops.
    func finalize(_ request: FinalizeRequest) async -> PromotionFault? {
        if isRunning, case .follower(let fault) = await waitForRound(request) { return fault }
        isRunning = true
        let others = waiting
        waiting.removeAll()
        let faults = await run([request] + others.map(\.request))
        for other in others {
            other.continuation.resume(returning: .follower(faults[other.request.attempt.job.id]))
        }
        isRunning = !waiting.isEmpty
        if isRunning { waiting.removeFirst().continuation.resume(returning: .leader) }
        return faults[request.attempt.job.id]
    }

    private func waitForRound(_ request: FinalizeRequest) async -> Role {
        await withCheckedContinuation { waiting.append(Waiting(request: request, continuation: $0)) }
    }

    private func run(_ requests: [FinalizeRequest]) async -> [JobID: PromotionFault] {
        var failures = await sync(requests)
        let durable = requests.filter { failures[$0.attempt.job.id] == nil }
        let (planned, faults) = await plan(durable)
        failures.merge(faults) { first, _ in first }
        failures.merge(await place(planned)) { first, _ in first }
        return failures
    }

    private func sync(_ requests: [FinalizeRequest]) async -> [JobID: PromotionFault] {
        let (folder, syncs) = (services.folder, services.measurements.syncs)
        let faults =
            (try? await diskQueue.run { () -> [DiskError?] in
                // Another program may have moved the folder away, with the parts in it.
                if let fault = folder.inspect(byWriting: false) { return requests.map { _ in fault } }
                let watch = Stopwatch()
                defer { syncs.record(watch) }
                return folder.publish(requests.map(\.complete.file.part))
            }) ?? []
        return zip(requests, faults).reduce(into: [:]) { $0[$1.0.attempt.job.id] = $1.1.map(PromotionFault.disk) }
    }

    /// Plans the names and commits the plans. A job whose destination was patched in between is planned again.
    private func plan(_ requests: [FinalizeRequest]) async -> (
        planned: [PlannedPromotion], failures: [JobID: PromotionFault]
    ) {
        var (open, planned, failures) = (requests, [PlannedPromotion](), [JobID: PromotionFault]())
        while !open.isEmpty {
            let (folder, now) = (services.folder, services.time.now)
            let promotions = (try? await diskQueue.run { [open] in folder.promotions(of: open, at: now) }) ?? []
            var plans: [(planned: PlannedPromotion, report: AttemptReport)] = []
            for (request, promotion) in zip(open, promotions) {
                let job = request.attempt.job
                switch promotion {
                case .success(let promotion):
                    let planned = PlannedPromotion(job: job.id, admission: job.admissions, promotion: promotion)
                    plans.append((planned, request.report))
                case .failure(let fault): failures[job.id] = fault
                }
            }
            // Without the commit the promotion is not carried out, and the next start finds the part unchanged.
            guard let rejections = try? await commit(plans) else { break }
            failures.merge(rejections.excess.mapValues(PromotionFault.excess)) { $1 }
            planned += plans.map(\.planned).filter { !rejections.areAgainst($0.job) }
            open = open.compactMap { request in
                guard let job = rejections.stale[request.attempt.job.id] else { return nil }
                // If another node has made the patch, this attempt does not know it yet.
                request.attempt.control.apply(job.spec)
                return request.renewed
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
        let faults = (try? await diskQueue.run { folder.place(planned.map(\.promotion)) }) ?? []
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
        let (store, active) = (services.store, services.active)
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
        let promotions = (try? await diskQueue.run { taken.map { folder.renamed($0.promotion) } }) ?? []
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
        guard let rejections = try? await commit(plans) else { return failures }
        failures.merge(await place(planned.filter { !rejections.areAgainst($0.job) })) { first, _ in first }
        return failures
    }
}

// MARK: - Promotions that another process had begun

extension FinalizeQueue {
    /// Continues the promotions. A job whose file cannot be moved to its place waits or fails.
    ///
    /// An end that cannot be stored before the service stops is counted in `Store.unstored`.
    func complete(_ jobs: [AdmittedJob]) async {
        let promotions = jobs.compactMap { job in
            job.job.state.promotion.map {
                PlannedPromotion(job: job.job.id, admission: job.job.admissions, promotion: $0)
            }
        }
        guard !promotions.isEmpty else { return }
        for (id, fault) in await place(promotions) {
            guard let job = jobs.first(where: { $0.job.id == id }) else { continue }
            let report = AttemptReport(admission: job.job.admissions, hasLostPart: fault.isPartLost)
            let signal = signal(after: fault, waitsFor: job.spec.waitFor)
            _ = try? await services.persist("the end of a promotion of \(id)") { [services] in
                try await services.store.apply(signal, to: id, report)
            }
        }
    }

    /// The signal for a job whose promotion cannot be completed.
    private func signal(after fault: PromotionFault, waitsFor: [WaitFor]) -> JobSignal {
        let now = services.time.now
        var failure = fault.failure
        failure.at = now
        let verdict = RetryPolicy().verdict(
            on: failure, waitsFor: waitsFor, failuresInARow: 1, hint: RetryPolicy.Hint(mayPass: fault.isPartLost),
            at: now, jitter: 0)
        return switch verdict {
        case .wait(let wait): .attemptDeferred(wait)
        case .fail(let failure): .attemptFailed(failure)
        }
    }
}

/// A promotion whose plan is committed.
struct PlannedPromotion {
    var job: JobID
    /// See `Job.admissions`.
    var admission: Int
    var promotion: Promotion
}

/// The plans of a round that were not stored.
struct PromotionRejections {
    /// The jobs whose destination was patched meanwhile.
    var stale: [JobID: Job] = [:]
    /// The jobs whose file does not fit into its session any more.
    var excess: [JobID: SizeLimit] = [:]
    /// The jobs that have another attempt by now.
    var superseded: Set<JobID> = []

    init(_ outcomes: [JobID: SignalOutcome] = [:]) {
        for (job, outcome) in outcomes {
            switch outcome {
            case .stale(let present): stale[job] = present
            case .excess(_, let limit): excess[job] = limit
            case .superseded: superseded.insert(job)
            case .done, .refused: break
            }
        }
    }

    func areAgainst(_ job: JobID) -> Bool { stale[job] != nil || excess[job] != nil || superseded.contains(job) }
}
