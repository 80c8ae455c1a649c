import Base
import CurlClient
import Downloads
import Foundation
import HTTPSemantics
import Logging
import Storage

/// One try at a job: the task that carries it out, and its state. `run` begins after the commit that admits the job, and
/// returns after the commit that ends the try.
///
/// An attempt has one `AttemptControl`, which other threads use; one `SegmentedFile`, which its part and its missing bytes
/// belong to; and a `Connection` for each of its connections.
final class Attempt: Sendable {
    let job: Job
    /// The host of the job's URL, with its port.
    let host: String
    /// The job's specification, completed with its session's configuration, when the job was admitted.
    let admitted: ResolvedSpec
    /// The same with what this attempt has discovered; nil: nothing else than before.
    let renewed = Locked<Renewal?>(nil)
    let control: AttemptControl
    /// Where the file goes. `default` if the job's location is not declared: then the attempt fails before it uses the folder.
    let location: Location
    /// Every disk operation on the attempt's part runs in this queue.
    let diskQueue: DiskQueue
    let services: EngineServices
    let state: Locked<State>

    struct State {
        var continued: Part?
        /// The file that the first accepted response began; nil before that response.
        var file: SegmentedFile?
        /// nil without a file, and for a file that cannot be divided.
        var pool: ConnectionPool?
        /// What a list of digests says about the file; nil before it is read, and without a list.
        var listed: ListedChecksum?
        /// The list was fetched before this attempt needed it.
        var isListShared = false
        /// The bytes of the complete file that do not match the digests of their pieces, and are fetched again.
        var wrongPieces: [Range<Int64>] = []
        /// The URLs of discovered mirrors whose samples were those of the job's server.
        var comparedMirrors: Set<String> = []
        /// The discovered mirrors that are not used any more.
        var dropped: [DroppedMirror] = []
        /// The bucket of the location has failed, and not the disk of the parts.
        var hasBucketFailed = false
        /// What the bucket of the location has of the continued part.
        var upload: StoredUpload?
        /// The first bytes of the continued part are in a bucket that the job does not use any more.
        var isPartOutOfReach = false
    }

    /// - Parameter rates: the rate limits of the service and of the session.
    init(_ admitted: AdmittedJob, at host: String, under rates: [RateLimit], _ services: EngineServices) {
        job = admitted.job
        self.host = host
        self.admitted = admitted.spec.limited(
            to: services.limits.withLock(\.storage.maxFileSize).map { SizeLimit($0, of: .service) })
        control = AttemptControl(
            of: admitted.job, admitted.spec, under: rates, time: services.time, total: services.received)
        location =
            services.locations[admitted.spec.sessionDestination.specified(by: control.destination).location]
            ?? services.locations.main
        diskQueue = location.diskQueues.next()
        self.services = services
        state = Locked(
            State(continued: admitted.job.part, dropped: admitted.job.spec.discovery?.suspects ?? []))
    }

    /// The specification of this attempt. It changes before the transfer only.
    var spec: ResolvedSpec { discovers ? renewed.withLock { $0?.spec } ?? admitted : admitted }

    var discovers: Bool { job.spec.mirrorPolicy == .discover && job.spec.method == .get }

    var file: SegmentedFile? { state.withLock { $0.file } }

    var logFields: Logger.Metadata {
        var fields: Logger.Metadata = [
            "job": "\(job.id)", "session": "\(job.session)", "attempt": .stringConvertible(job.attempts),
        ]
        if let trace = job.trace { fields["trace"] = "\(trace.traceID)" }
        return fields
    }
}

// MARK: - The steps

extension Attempt {
    /// What an attempt does next. Each step below returns the one that follows it, in the order of this file:
    ///
    ///     check -> discoverMirrors -> readChecksum -> takeOverPart -> plan -> transfer -> verify -> finalize -> end
    ///                                                                                       verify -> upload -> finalize
    ///                                                                         transfer -> discard -> transfer
    ///     (any) -> stop or fail -> store -> end
    ///
    /// The steps are indirect, and their functions are not inlined, because the suspended task would reserve room for the largest of
    /// them, or for all: a running attempt had 30 KiB more.
    indirect enum Step: Sendable {
        case check
        case discoverMirrors
        case readChecksum
        case takeOverPart
        case plan
        /// - announced: how the transfer begins, if the store has recorded that before the first response.
        case transfer(RequestPlan, announced: ResumeOutcome?)
        case discard(SegmentedFile, ResumeOutcome.RestartReason)
        case verify(CompleteFile)
        case upload(FinalizeRequest, BucketFinalizer)
        /// - object: nil in a folder.
        case finalize(FinalizeRequest, PreparedObject?)
        case stop(AttemptControl.Stop)
        case fail(Failure, RetryPolicy.Hint)
        case store(Ending)
        case end(AttemptResult)
    }

    struct Ending: Sendable {
        var signal: JobSignal
        var keepsPart: Bool
        /// When the job tries again if a client has changed it meanwhile; nil: at once.
        var nextAttempt: Date?
        var result: AttemptResult
    }

    func run(finalizingIn queue: FinalizeQueue) async {
        let watch = Stopwatch()
        var step = Step.check
        while true {
            switch step {
            case .transfer(let plan, let announced): step = await transfer(plan, announced: announced)
            case .end(let result): return services.measurements.attempts[result].record(watch)
            default: step = await shortStep(step, finalizingIn: queue)
            }
        }
    }

    /// All but the transfer.
    @inline(never)
    private func shortStep(_ step: Step, finalizingIn queue: FinalizeQueue) async -> Step {
        switch step {
        case .check: check()
        case .discoverMirrors: await discoverMirrors() ? .readChecksum : .stop(.shutdown)
        case .readChecksum: await readChecksum()
        case .takeOverPart: await takeOverPart()
        case .plan: await plan()
        case .discard(let file, let why): await discard(file, why)
        case .verify(let complete): await verify(complete)
        case .upload(let request, let finalizer): await upload(request, finalizer)
        case .finalize(let request, let object): await finalize(request, object, in: queue)
        case .stop(let stop): end(after: stop)
        case .fail(let failure, let hint): end(after: failure, hint)
        case .store(let ending): await store(ending)
        case .transfer, .end: step
        }
    }

    func fail(_ failure: Failure) -> Step { .fail(failure, RetryPolicy.Hint()) }

    private var stopped: Step { .stop(control.stop ?? .shutdown) }

    // MARK: Before the first request

    @inline(never)
    private func check() -> Step {
        if let fault = locationFault {
            if services.locations[place.location] == nil { services.report(undeclared: place.location) }
            if location.bucket != nil, location.health.fault != nil { state.withLock { $0.hasBucketFailed = true } }
            return fail(fault)
        }
        if let bucket = location.bucket, case .failed(let failure, let hint)? = refusal(by: bucket, place.conflict) {
            return .fail(failure, hint)
        }
        if let loss = spec.missingSecrets { return fail(loss) }
        if Rehearsal.isRehearsal(spec.url), services.options.rehearsalOrigin == nil {
            return fail(
                Failure(.badURL, "Rehearsals are switched off: start fetchd with --enable-rehearsals, and retry."))
        }
        if !spec.tls.verify {
            services.log.warning(
                "\(job.id) does not verify certificates: its session disables the verification.", metadata: logFields)
        }
        return discovers && job.mirror == 0 ? .discoverMirrors : .readChecksum
    }

    /// Why no file can go to the location now; nil while it works.
    var locationFault: Failure? {
        guard location.name == place.location else { return DiskError.undeclared(place.location).failure }
        // The parts of objects are in the downloads folder.
        let staging = location.bucket == nil ? nil : services.locations.main.health.fault
        return (location.health.fault ?? staging)?.failure
    }

    var place: DestinationRule { admitted.sessionDestination.specified(by: control.destination) }

    @inline(never)
    private func readChecksum() async -> Step {
        guard let file = spec.checksum?.file else { return .takeOverPart }
        switch await readChecksum(in: file, mayShare: job.admissions <= 1) {
        case .listed(let listed, let isShared):
            state.withLock { ($0.listed, $0.isListShared) = (listed, isShared) }
            return .takeOverPart
        case .failed(let failure, let hint): return .fail(failure, hint)
        case .stopped: return stopped
        }
    }

    @inline(never)
    private func takeOverPart() async -> Step {
        guard let job = await jobWithUpload() else { return stopped }
        if state.withLock(\.isPartOutOfReach) { return .transfer(RequestPlan(fromStart: .partMissing), announced: nil) }
        switch await services.takeOverPart(
            of: job, to: location, in: diskQueue, isStopped: { [control] in control.isStopping })
        {
        case .ready(let job):
            state.withLock { $0.continued = job.part }
            return .plan
        case .failed(let failure): return fail(failure)
        case .stopped: return stopped
        }
    }

    @inline(never)
    private func plan() async -> Step {
        let (folder, directory) = (location.folder, place.directory)
        let start = try? await diskQueue.run { [jobWithPart, spec, listed] in
            (
                plan: RequestPlan(for: jobWithPart, spec, listed: listed?.checksum, in: folder),
                room: folder.room, fault: folder.fault(inFolder: directory)
            )
        }
        guard let start, var plan = start.plan else { return stopped }
        plan.room = start.room
        // The folder is checked again when the file is finalized. Here, the check saves the transfer.
        if let fault = start.fault { return fail(fault) }
        return .transfer(plan, announced: nil)
    }

    // MARK: The transfer

    @inline(never)
    private func transfer(_ plan: RequestPlan, announced: ResumeOutcome?) async -> Step {
        let (begun, continuation) = AsyncStream<SegmentedFile>.makeStream()
        async let further = fetchFurther(begun, announced: announced)
        let loss = await Connection(of: self).fetch(plan) { file in
            self.begin(file)
            continuation.yield(file)
        }
        // No file can begin after this, and further connections end when nothing is left to fetch.
        continuation.finish()
        notePrimaryEnd(loss)
        return step(after: loss, await further, announced: announced)
    }

    @inline(never)
    private func notePrimaryEnd(_ loss: ConnectionLoss?) {
        guard let file else { return }
        primaryConnectionEnded(to: file, loss)
        file.part.staging?.noteEnd()
    }

    @inline(never)
    private func step(after loss: ConnectionLoss?, _ further: ConnectionLoss?, announced: ResumeOutcome?) -> Step {
        let losses = [loss, further].compactMap(\.self)
        if announced == nil, let file, let why = file.corruption { return .discard(file, why) }
        if let stop = control.stop { return .stop(stop) }
        guard case .failed(let outcome)? = file?.part.staging?.result else { return evaluate(losses) }
        if case .failed(let failure, let hint) = outcome { return .fail(failure, hint) }
        return stopped
    }

    /// Called when the first response is accepted, before its bytes arrive: on the transfer loop, or on the task of the
    /// primary connection.
    func begin(_ file: SegmentedFile) {
        state.withLock { state in
            state.file = file
            state.pool = file.isDivisible ? ConnectionPool(of: file, for: spec) : nil
        }
    }

    /// Records the file that has begun, and fetches it over further connections.
    ///
    /// - Returns: the loss of the connection that was lost last; nil when none was lost.
    private func fetchFurther(_ begun: AsyncStream<SegmentedFile>, announced: ResumeOutcome?) async -> ConnectionLoss? {
        for await file in begun {
            async let announcing: Void = announce(file.outcome, unless: announced)
            async let staging: Void = stage(file)
            var loss: ConnectionLoss?
            if file.isDivisible {
                loss = await openFurtherConnections(to: file) { [self] source, claim, isWanted in
                    await Connection(of: self).fillSegments(of: file, from: source, first: claim, while: isWanted)
                }
            }
            // The event of the beginning is stored before the event of the end.
            await announcing
            file.part.staging?.noteEnd()
            await staging
            return loss
        }
        return nil
    }

    /// Stores how the transfer begins. A fresh beginning needs no commit: it is stored with the end of the attempt.
    private func announce(_ outcome: ResumeOutcome, unless announced: ResumeOutcome?) async {
        guard outcome != .fresh, outcome != announced else { return }
        // If the commit fails, the engine stops, and the attempt with it.
        try? await services.beginTransfer(of: jobWithPart, outcome)
    }

    private func evaluate(_ losses: [ConnectionLoss]) -> Step {
        // A segment counts its bytes before they are written, so after a final loss some counted bytes may be missing.
        if let loss = losses.first(where: \.isFinal) { return .fail(loss.failure, loss.hint) }
        guard let file, let response = file.firstResponse, file.isComplete else {
            return losses.first.map { .fail($0.failure, $0.hint) } ?? .stop(.shutdown)
        }
        let size = file.part.written.end
        // If the body has no marked end, too few bytes mean a lost connection and not another file.
        let isEndKnown = response.metrics.bodyEndKnown || file.size != nil
        if !isEndKnown, let expected = spec.expectedSize, size < expected {
            return fail(Failure(.truncated, "The body ended after \(size) of \(expected) bytes."))
        }
        if let failure = spec.refusal(ofSize: size) { return fail(failure) }
        return .verify(
            CompleteFile(
                file: file, response: response, size: size, isLengthVerified: isEndKnown || spec.expectedSize != nil))
    }

    /// Removes a file that received wrong bytes, with the bytes that were durable before, and
    /// requests the whole file.
    @inline(never)
    private func discard(_ file: SegmentedFile, _ why: ResumeOutcome.RestartReason) async -> Step {
        state.withLock { state in
            state.file = nil
            state.pool = nil
            state.upload = nil
        }
        do {
            try await services.beginTransfer(of: jobWithPart, .restarted(why), without: file.part.id)
        } catch {
            return .stop(.shutdown)
        }
        await services.removeParts([file.part.id])
        return .transfer(RequestPlan(fromStart: why), announced: .restarted(why))
    }

    // MARK: The complete file

    @inline(never)
    private func verify(_ complete: CompleteFile) async -> Step {
        control.enter(.verifying)
        let (part, label) = (complete.file.part, complete.file.label)
        do {
            let staged = part.staging?.object
            let digests =
                if let staged { staged.digests } else {
                    try await part.diskQueue.run { [spec, control] in
                        try part.digests(spec.algorithms(label), isStopped: { control.isStopping })
                    }
                }
            guard part.staging.map(canVerify) ?? true else { return restart(.uploadLost) }
            // A mismatch takes precedence over a stop: bytes that are known to be wrong are not kept.
            if let (mismatch, hint) = try await refutation(of: complete, by: digests) { return .fail(mismatch, hint) }
            guard let digests else { return stopped }
            if staged == nil, try await !makeReady(part) { return stopped }
            let request = FinalizeRequest(attempt: self, complete: complete, digests: digests)
            if let bucketFinalizer { return .upload(request, bucketFinalizer) }
            return control.beginFinalizing() ? .finalize(request, nil) : stopped
        } catch {
            return fail((error as? DiskError)?.failure ?? Failure(.storageError, "\(error)"))
        }
    }

    @inline(never)
    private func upload(_ request: FinalizeRequest, _ finalizer: BucketFinalizer) async -> Step {
        control.enter(.promoting)
        switch await upload(request, to: finalizer) {
        case .ready(let object): return control.beginFinalizing() ? .finalize(request, object) : stopped
        case .stopped: return stopped
        case .failed(let failure, let hint): return .fail(failure, hint)
        }
    }

    @inline(never)
    private func finalize(
        _ request: FinalizeRequest, _ object: PreparedObject?, in queue: FinalizeQueue
    ) async -> Step {
        control.enter(.promoting)
        let fault =
            if let object, let bucketFinalizer { await bucketFinalizer.finalize(request, object) } else {
                await queue.finalize(request)
            }
        guard let fault else { return .end(.succeeded) }
        if fault.isOfBucket { state.withLock { $0.hasBucketFailed = true } }
        // The next attempt takes the part with it, and finds it complete.
        if case .relocated = fault { return .stop(.shutdown) }
        // The open file is not the file that would be finalized, so the next attempt begins a new part.
        if fault.isPartLost { file?.part.fail(DiskError("promote the part", code: ESTALE)) }
        return fail(fault.failure)
    }

    /// The next attempt requests the whole file, because nothing on the disk can show what the bytes in the bucket are.
    private func restart(_ fault: FinalizeFault) -> Step {
        file?.part.fail(DiskError("send the part", code: ESTALE))
        return fail(fault.failure)
    }
}
