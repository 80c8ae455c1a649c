import CurlClient
import Downloads
import Foundation
import HTTPSemantics
import Locks
import Storage

/// One try at a job, from its first request to a complete part, over one or several connections. `AttemptRun` decides
/// the next state of the job.
///
/// The attempt creates its connections, gives each of them the context, runs them, and derives its own end from their
/// ends. No connection refers to the attempt.
final class Attempt: Sendable {
    enum End: Sendable {
        /// Every byte is written (not yet synced), and the job accepts the size.
        ///
        /// The part is stored apart, because each suspended function reserves room for its result.
        indirect case whole(WholePart)
        case stopped(AttemptControl.Stop)
        case failed(Failure, RetryPolicy.Hint = RetryPolicy.Hint())
    }

    private let context: AttemptContext
    private let services: EngineServices
    private let state: Locked<State>

    private struct State {
        /// The part that the attempt continues.
        var part: Part?
        var destination: Destination
        /// The file that the first accepted response began; nil before that response.
        var file: SegmentedFile?
        /// nil without a file, and for a file that cannot be divided.
        var additional: AdditionalConnections?
    }

    /// The file that the primary connection has begun, and its additional connections.
    private typealias Begun = (file: SegmentedFile, additional: AdditionalConnections?)

    /// - Parameter rates: the rate limits of the service and of the session.
    init(_ admitted: AdmittedJob, under rates: [RateLimit], _ services: EngineServices) {
        context = AttemptContext(admitted, under: rates, services)
        self.services = services
        state = Locked(State(part: admitted.job.part, destination: admitted.job.spec.destination))
    }

    var job: Job { context.job }
    var spec: ResolvedSpec { context.spec }
    var control: AttemptControl { context.control }
    var progress: AttemptProgress { context.progress }

    /// The destination that the client wants now: a patch can change it while the attempt runs.
    var destination: Destination { state.withLock { $0.destination } }

    /// What clients see of the attempt now.
    var live: LiveProgress { progress.snapshot(isStopping: control.isStopping) }

    /// Called in a commit's hook. Applies the changed fields that a running attempt can apply.
    func take(_ spec: JobSpec) {
        context.limits.take(spec)
        let additional = state.withLock { state in
            state.destination = spec.destination
            return state.additional
        }
        additional?.limitsChanged()
    }
}

// MARK: State of the attempt

extension Attempt {
    /// The job with the part that the attempt continues.
    private var present: Job {
        var job = job
        job.part = state.withLock { $0.part }
        return job
    }

    private var file: SegmentedFile? { state.withLock { $0.file } }

    /// The file that bytes are written to; nil before a response was accepted.
    var partFile: PartFile? { file?.part }

    /// The part as it can be promised now; nil before a response was accepted.
    var part: Part? {
        file.map { file in
            // The ranges are read first: meanwhile, what can be promised about them can only become less.
            let ranges = file.part.durable
            let (validators, label) = file.promise
            return Part(
                id: file.part.id, url: file.url, validators: validators, label: label, size: file.size, ranges: ranges)
        }
    }

    /// Whether this attempt has fetched bytes that the job never had, and that the next attempt can continue. Without
    /// this condition fetchd would request a file for ever from a server that breaks every connection.
    var hasGained: Bool {
        guard let file, file.part.fault == nil else { return false }
        return spec.canContinue(file.validators) && file.part.written.count > max(file.bytesHad, job.bytesDurable)
    }

    var resume: ResumeOutcome? { file?.outcome }

    /// Whether the job fetches the file once more after its bytes proved wrong. True when bytes of an earlier attempt,
    /// or of another connection, may be the cause.
    var mayBeginAnew: Bool {
        guard let file, !job.isDisproved else { return false }
        return file.outcome.isResumed || file.isShared
    }
}

// MARK: Running

extension Attempt {
    func run() async -> End {
        if let loss = spec.lossOfSecrets { return .failed(loss) }
        if Rehearsal.isRehearsal(spec.url), services.rehearsalOrigin == nil {
            return .failed(
                Failure(.badURL, "Rehearsals are switched off: start fetchd with --enable-rehearsals, and retry."))
        }
        if !spec.tls.verify {
            services.log.warning(
                "\(job.id) does not verify certificates: its session disables the verification.", metadata: logFields)
        }
        switch await services.takeOverPart(of: job, in: context.lane, isStopped: { [control] in control.isStopping }) {
        case .ready(let job): state.withLock { $0.part = job.part }
        case .failed(let failure): return .failed(failure)
        case .stopped: return .stopped(control.stop ?? .shutdown)
        }
        let (folder, directory) = (services.folder, spec.sessionPlace.specified(by: destination).directory)
        let start = try? await context.lane.run { [present, spec] in
            (plan: RequestPlan(for: present, spec, in: folder), fault: folder.fault(inFolder: directory))
        }
        guard let start, let plan = start.plan else { return .stopped(control.stop ?? .shutdown) }
        // Promotion checks the folder again. Here, the check saves the transfer.
        if let fault = start.fault { return .failed(fault) }
        let end = await fetch(plan)
        guard let file, file.isUnsound else { return end }
        guard (try? await discard(file, .badRange)) != nil else { return .stopped(.shutdown) }
        return await fetch(RequestPlan(anew: .badRange), announced: .restarted(.badRange))
    }

    /// Discards a file that received bytes after a wrong response head, promised bytes included, before the next request.
    private func discard(_ file: SegmentedFile, _ why: ResumeOutcome.RestartReason) async throws(NotStored) {
        state.withLock { ($0.file, $0.additional) = (nil, nil) }
        try await services.beginTransfer(of: present, .restarted(why), without: file.part.id)
        await services.removeParts([file.part.id])
    }

    /// - Parameter announced: how the transfer begins, if the store has recorded that before the first response.
    private func fetch(_ plan: RequestPlan, announced: ResumeOutcome? = nil) async -> End {
        let (begun, continuation) = AsyncStream<Begun>.makeStream()
        async let joined = join(begun, announced: announced)
        let (answer, loss) = await runPrimary(plan) { continuation.yield(self.begin($0)) }
        // No file can begin after this, and additional connections end when nothing is left to fetch.
        continuation.finish()
        state.withLock { $0.additional }?.primaryEnded(loss)
        let additionalLoss = await joined
        if let stop = control.stop { return .stopped(stop) }
        return conclusion(answer, [loss, additionalLoss].compactMap { $0 })
    }

    /// Runs the connection that begins the file. After its first response it fills segments like an additional
    /// connection.
    private func runPrimary(
        _ plan: RequestPlan, onBegin: @escaping @Sendable (SegmentedFile) -> Void
    ) async -> (PrimaryConnection.Answer?, ConnectionLoss?) {
        var primary = PrimaryConnection(
            context, plan,
            makePart: { [services, context] in services.partFile(continuing: $0, digesting: $1, context.lane) },
            onBegin: onBegin)
        let end = await primary.run()
        guard end.loss == nil, let answer = end.answer else { return (end.answer, end.loss) }
        let source = SegmentSource(url: answer.requests.url, home: spec.url)
        let fetcher = SegmentFetcher(context: context, file: answer.file, source: source)
        return (answer, await fetcher.fillSegments())
    }

    /// Called on the transfer loop when the first response is accepted, before its bytes arrive.
    private func begin(_ file: SegmentedFile) -> Begun {
        var additional: AdditionalConnections?
        if file.isDivisible {
            additional = AdditionalConnections(context, file) { [context] source, lease, isWanted in
                let fetcher = SegmentFetcher(context: context, file: file, source: source)
                return await fetcher.fillSegments(from: lease, while: isWanted)
            }
        }
        state.withLock { [additional] state in (state.file, state.additional) = (file, additional) }
        return (file, additional)
    }

    /// Records the file that has begun, and runs its additional connections.
    ///
    /// - Returns: the loss of the connection that was lost last; nil when none was lost.
    private func join(_ begun: AsyncStream<Begun>, announced: ResumeOutcome?) async -> ConnectionLoss? {
        for await (file, additional) in begun {
            async let announcing: Void = announce(file.outcome, unless: announced)
            let loss = await additional?.run()
            // The event of the beginning is stored before the event of the end.
            await announcing
            return loss
        }
        return nil
    }

    /// Stores how the transfer begins. A fresh beginning needs no commit: it is stored with the end of the attempt.
    private func announce(_ outcome: ResumeOutcome, unless announced: ResumeOutcome?) async {
        guard outcome != .fresh, outcome != announced else { return }
        // If the commit fails, the engine stops, and the attempt with it.
        try? await services.beginTransfer(of: present, outcome)
    }

    /// The end of the attempt, after its last connection has ended.
    private func conclusion(_ answer: PrimaryConnection.Answer?, _ losses: [ConnectionLoss]) -> End {
        // A segment counts its bytes before they are written, so after a final loss some counted bytes may be missing.
        if let loss = losses.first(where: \.isFinal) { return .failed(loss.failure, loss.hint) }
        guard let answer, answer.file.isComplete else {
            return losses.first.map { .failed($0.failure, $0.hint) } ?? .stopped(.shutdown)
        }
        let (file, size) = (answer.file, answer.file.part.written.end)
        // If the body has no marked end, too few bytes mean a lost connection and not another file.
        let isEndKnown = answer.metrics.bodyEndKnown || file.size != nil
        if !isEndKnown, let expected = spec.expectedSize, size < expected {
            return .failed(Failure(.truncated, "The body ended after \(size) of \(expected) bytes."))
        }
        if let failure = spec.refusal(ofSize: size) { return .failed(failure) }
        return .whole(
            WholePart(
                file: file.part, size: size, head: answer.head, validators: file.validators, label: file.label,
                metrics: answer.metrics, decoding: file.decoding, url: answer.requests.url,
                redirects: answer.requests.redirects,
                isLengthVerified: isEndKnown || spec.expectedSize != nil))
    }
}
