import Base
import Downloads
import Foundation
import Storage

/// Turns verified parts into files of one location: sync, commit `promoting`, rename, sync the folder, commit `succeeded`.
///
/// The requests that arrive during one round are handled in the next round. So many small files share their syncs and
/// commits, as writers share a commit in the store. Every step can be repeated after a crash.
actor FinalizeQueue {
    private let services: EngineServices
    private let location: Location
    private let diskQueue: DiskQueue
    private var waiting: [Waiting] = []
    private var isRunning = false

    /// A round can have a folder open for each of its files.
    private static let mostInRound = 128

    private struct Waiting {
        var request: FinalizeRequest
        var continuation: CheckedContinuation<Role, Never>
    }

    /// What a request does after it has waited for its round.
    private enum Role {
        /// Another request has carried it out in its round; nil: the file is in its place.
        case follower(FinalizeFault?)
        /// The request carries out the next round.
        case first
    }

    init(of location: Location, _ services: EngineServices) {
        self.services = services
        self.location = location
        diskQueue = location.diskQueues.next()
    }

    /// Returns when the file is in its place and the job has succeeded, or when the engine stops before that is stored.
    ///
    /// The first request that arrives runs the round for all waiting requests, in its own task.
    ///
    /// - Returns: why the file could not be moved to its place; nil when it was, or when the engine stops.
    func finalize(_ request: FinalizeRequest) async -> FinalizeFault? {
        if isRunning, case .follower(let fault) = await waitForRound(request) { return fault }
        isRunning = true
        let others = waiting.prefix(Self.mostInRound - 1)
        waiting.removeFirst(others.count)
        let faults = await run([request] + others.map(\.request))
        for other in others { other.continuation.resume(returning: .follower(faults[other.request.attempt.job.id])) }
        isRunning = !waiting.isEmpty
        if isRunning { waiting.removeFirst().continuation.resume(returning: .first) }
        return faults[request.attempt.job.id]
    }

    private func waitForRound(_ request: FinalizeRequest) async -> Role {
        await withCheckedContinuation { waiting.append(Waiting(request: request, continuation: $0)) }
    }

    private typealias Faults = [JobID: FinalizeFault]

    private func run(_ requests: [FinalizeRequest]) async -> Faults {
        var faults = await sync(requests)
        let planned = await plan(requests.filter { faults[$0.attempt.job.id] == nil }, &faults)
        await place(planned, &faults)
        return faults
    }

    private func sync(_ requests: [FinalizeRequest]) async -> Faults {
        let (folder, syncs) = (location.folder, services.measurements.syncs)
        let faults =
            (try? await diskQueue.run { () -> [DiskError?] in
                // Another program may have moved the folder away, with the parts in it.
                if let fault = folder.inspect(byWriting: false) { return requests.map { _ in fault } }
                let watch = Stopwatch()
                defer { syncs.record(watch) }
                return folder.publish(requests.map(\.complete.file.part))
            }) ?? []
        return zip(requests, faults).reduce(into: [:]) { $0[$1.0.attempt.job.id] = $1.1.map(FinalizeFault.disk) }
    }

    /// Plans the names and commits the plans. A job whose destination was patched in between is planned again.
    private func plan(_ requests: [FinalizeRequest], _ faults: inout Faults) async -> [PlannedFile] {
        var (open, planned) = (requests, [PlannedFile]())
        while !open.isEmpty {
            let (folder, now) = (location.folder, services.time.now)
            let plans = (try? await diskQueue.run { [open] in folder.plans(for: open, at: now) }) ?? []
            let proposals = zip(open, plans).map { Proposal(job: $0.attempt.job.id, report: $0.report, plan: $1) }
            guard let committed = await commit(proposals, &faults) else { break }
            planned += committed.planned
            open = open.compactMap { request in
                guard let job = committed.stale[request.attempt.job.id] else { return nil }
                // If another service has made the patch, this attempt does not know it yet.
                request.attempt.control.apply(job.spec)
                return request.renewed
            }
        }
        return planned
    }

    /// Plans another name if a file took the name between the plan and the rename.
    private func replan(_ taken: [PlannedFile], _ faults: inout Faults) async {
        guard !taken.isEmpty else { return }
        let folder = location.folder
        let plans = (try? await diskQueue.run { taken.map { folder.renamed($0.plan) } }) ?? []
        let proposals = zip(taken, plans).map {
            Proposal(job: $0.job, report: AttemptReport(admission: $0.admission), plan: $1)
        }
        if let committed = await commit(proposals, &faults) { await place(committed.planned, &faults) }
    }

    private struct Proposal {
        var job: JobID
        var report: AttemptReport
        var plan: Result<FinalizePlan, FinalizeFault>
    }

    /// - Returns: the files whose plans are stored, and the jobs whose destination was patched meanwhile; nil if nothing is
    ///   stored. Then nothing is carried out, and the next start finds the parts unchanged.
    private func commit(
        _ proposals: [Proposal], _ faults: inout Faults
    ) async -> (planned: [PlannedFile], stale: [JobID: Job])? {
        var (planned, stale) = ([PlannedFile](), [JobID: Job]())
        var signals: [(job: JobID, signal: JobSignal, report: AttemptReport)] = []
        for proposal in proposals {
            switch proposal.plan {
            case .success(let plan):
                planned.append(PlannedFile(job: proposal.job, admission: proposal.report.admission, plan: plan))
                signals.append((proposal.job, .finalizePlanned(plan), proposal.report))
            case .failure(let fault): faults[proposal.job] = fault
            }
        }
        guard !signals.isEmpty else { return (planned, stale) }
        guard let outcomes = await stored(signals) else { return nil }
        for (job, outcome) in outcomes {
            switch outcome {
            case .stale(let present): stale[job] = present
            case .excess(_, let limit): faults[job] = .excess(limit)
            // The job has another attempt by now.
            case .superseded: break
            case .done, .refused: continue
            }
            planned.removeAll { $0.job == job }
        }
        return (planned, stale)
    }

    private func stored(
        _ signals: [(job: JobID, signal: JobSignal, report: AttemptReport)]
    ) async -> [JobID: SignalOutcome]? {
        do throws(NotStored) {
            let store = services.store
            return try await services.persist("\(signals.count) promotions") { try await store.apply(signals) } ?? [:]
        } catch {
            return nil
        }
    }

    /// Renames, syncs the folders and commits the success. If another file took a name meanwhile, another name is
    /// planned.
    private func place(_ planned: [PlannedFile], _ faults: inout Faults) async {
        guard !planned.isEmpty else { return }
        let folder = location.folder
        let found = (try? await diskQueue.run { folder.place(planned.map(\.plan)) }) ?? []
        var (placed, taken, unsynced) = ([PlannedFile](), [PlannedFile](), [PlannedFile]())
        for (file, fault) in zip(planned, found) {
            switch fault {
            case nil: placed.append(file)
            case .nameTaken?: taken.append(file)
            case .unsynced?: unsynced.append(file)
            // The service ends, or may act for its jobs again soon.
            case .disk(let error)? where error.isLeaseLost: unsynced.append(file)
            case let fault?: faults[file.job] = fault
            }
        }
        await succeed(placed)
        await replan(taken, &faults)
        await placeAgain(unsynced, &faults)
    }

    /// The jobs stay `promoting` until their files are in their places, and the folders are synced, or the service stops. In the
    /// second case the next start continues them.
    private func placeAgain(_ unsynced: [PlannedFile], _ faults: inout Faults) async {
        guard let first = unsynced.first else { return }
        services.log.error(
            "Could not move \(unsynced.count) files to their places, or sync their folders, such as \(first.plan.file.path). fetchd tries again until it stops."
        )
        guard await services.stop.pauseBeforeRepeating(by: services.time) else { return services.store.unstored.note() }
        await place(unsynced, &faults)
    }

    private func succeed(_ placed: [PlannedFile]) async {
        guard !placed.isEmpty else { return }
        let (store, active) = (services.store, services.active)
        let signals = placed.map {
            (job: $0.job, signal: JobSignal.finalized(nil), report: AttemptReport(admission: $0.admission))
        }
        // If the commit fails, the next start finds the file in its place.
        _ = try? await services.persist("\(placed.count) successes") {
            try await store.apply(signals) { _ in
                for placed in placed { active.end(placed.job, admission: placed.admission) }
            }
        }
    }
}

// MARK: - Promotions that another process had begun

extension FinalizeQueue {
    /// Continues the promotions. A job whose file cannot be moved to its place waits or fails.
    ///
    /// An end that cannot be stored before the service stops is counted in `Store.unstored`.
    func complete(_ jobs: [AdmittedJob]) async {
        let planned = jobs.compactMap { admitted in
            admitted.job.state.finalizePlan.map {
                PlannedFile(job: admitted.job.id, admission: admitted.job.admissions, plan: $0)
            }
        }
        var faults: Faults = [:]
        await place(planned, &faults)
        for (id, fault) in faults {
            guard let admitted = jobs.first(where: { $0.job.id == id }) else { continue }
            let report = AttemptReport(admission: admitted.job.admissions, hasLostPart: fault.isPartLost)
            let signal = fault.signal(waitsFor: admitted.spec.waitFor, at: location.name, services.time.now)
            _ = try? await services.persist("the end of a promotion of \(id)") { [store = services.store] in
                try await store.apply(signal, to: id, report)
            }
        }
    }
}

extension FinalizeFault {
    /// What follows from the fault for a job without an attempt.
    ///
    /// - Parameter location: the one that the job waits for.
    func signal(waitsFor: [WaitFor], at location: Name, _ now: Date) -> JobSignal {
        var failure = failure
        failure.at = now
        let verdict = RetryPolicy().decision(
            on: failure, waitsFor: waitsFor, failuresInARow: 1, hint: RetryPolicy.Hint(mayPass: isPartLost), at: now,
            jitter: 0)
        return switch verdict {
        case .wait(let wait): .attemptDeferred(wait.at(location))
        case .fail(let failure): .attemptFailed(failure)
        }
    }
}

/// The queues of the locations. None of them waits for the disk of another one.
struct FinalizeQueues: Sendable {
    private let services: EngineServices
    private let queues: [Name: FinalizeQueue]

    init(_ services: EngineServices) {
        self.services = services
        queues = Dictionary(
            uniqueKeysWithValues: services.locations.all.map { ($0.name, FinalizeQueue(of: $0, services)) })
    }

    subscript(location: Location) -> FinalizeQueue { queues[location.name] ?? FinalizeQueue(of: location, services) }

    /// Continues promotions. Those to locations that are not declared stay as they are: whether their files are in their places is
    /// not known before.
    func complete(_ jobs: [AdmittedJob]) async {
        let byLocation = Dictionary(grouping: jobs) { $0.job.state.finalizePlan?.file.location ?? .default }
        await withDiscardingTaskGroup { group in
            for (name, jobs) in byLocation {
                guard let queue = queues[name], let location = services.locations[name] else {
                    services.log.error(
                        "\(jobs.count) files, such as that of \(jobs[0].job.id), were being moved to the location \(name), which no option declares. fetchd continues when it starts with this location."
                    )
                    continue
                }
                if location.postpone(jobs) { continue }
                if let bucket = location.bucket {
                    let uploads = ObjectUpload(services: services, location: location, store: bucket)
                    let finalizer = BucketFinalizer(uploads: uploads)
                    group.addTask { await finalizer.complete(jobs) }
                } else {
                    group.addTask { await queue.complete(jobs) }
                }
            }
        }
    }
}

/// A file whose plan is committed.
struct PlannedFile: Sendable {
    var job: JobID
    /// See `Job.admissions`.
    var admission: Int?
    var plan: FinalizePlan
}
