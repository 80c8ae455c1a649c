import CurlClient
import Downloads
import Foundation
import HTTPSemantics
import Locks
import Storage

/// One try at a job, from its first request to a whole part, over one connection or several. `AttemptRun` decides what
/// becomes of the job.
///
/// The attempt composes its connections: it gives each of them the context, runs them and draws the conclusion from their
/// ends. No connection holds the attempt.
final class Attempt: Sendable {
    enum End: Sendable {
        /// Every byte is written (not yet synced), and the size is as the job wants it.
        case whole(WholePart)
        case stopped(AttemptControl.Stop)
        case failed(Failure, RetryPolicy.Hint = RetryPolicy.Hint())
    }

    private let context: AttemptContext
    private let services: EngineServices
    private let state: Locked<State>

    private struct State {
        var destination: Destination
        /// The file that the first accepted response has begun.
        var file: SegmentedFile?
        /// nil while there is no file, and for a file that cannot be divided.
        var additional: AdditionalConnections?
    }

    /// The file that the primary connection has begun, and the connections that join it.
    private typealias Begun = (file: SegmentedFile, additional: AdditionalConnections?)

    /// - Parameter rates: of the service and of the session.
    init(_ admitted: AdmittedJob, under rates: [RateLimit], _ services: EngineServices) {
        context = AttemptContext(admitted, under: rates, services)
        self.services = services
        state = Locked(State(destination: admitted.job.spec.destination))
    }

    var job: Job { context.job }
    var spec: ResolvedSpec { context.spec }
    var control: AttemptControl { context.control }
    var progress: AttemptProgress { context.progress }

    /// Where the client wants the file now: a patch changes it while the attempt runs.
    var destination: Destination { state.withLock { $0.destination } }

    /// In a commit's hook: applies what the client has changed and can be changed while the attempt runs.
    func take(_ spec: JobSpec) {
        context.limits.take(spec)
        let additional = state.withLock { state in
            state.destination = spec.destination
            return state.additional
        }
        additional?.limitsChanged()
    }
}

// MARK: What the attempt has

extension Attempt {
    private var file: SegmentedFile? { state.withLock { $0.file } }

    /// The file that bytes are written to; nil before a response was accepted.
    var partFile: PartFile? { file?.part }

    /// The part as it can be promised now.
    var part: Part? {
        file.map { file in
            // The ranges are read first: what can be promised of them may become less meanwhile, never more.
            let ranges = file.part.durable
            let (validators, label) = file.promise
            return Part(
                id: file.part.id, url: file.url, validators: validators, label: label, size: file.size, ranges: ranges)
        }
    }

    /// Whether this attempt has brought bytes that the job never had, and that the next attempt can continue. Otherwise
    /// fetchd would ask a server that breaks off each time for ever.
    var hasGained: Bool {
        guard let file, file.part.fault == nil else { return false }
        return spec.canContinue(file.validators) && file.part.written.count > max(file.bytesHad, job.bytesDurable)
    }

    var resume: ResumeOutcome? { file?.outcome }

    /// Whether the job is fetched once more after its bytes turned out wrong: the bytes of an earlier attempt, or of another
    /// connection, may be the cause.
    var mayBeginAnew: Bool {
        guard let file, !job.isDisproved else { return false }
        return file.outcome.isResumed || file.isShared
    }
}

// MARK: Running

extension Attempt {
    func run() async -> End {
        if Rehearsal.isRehearsal(spec.url), services.rehearsalOrigin == nil {
            return .failed(
                Failure(.badURL, "Rehearsals are switched off: start fetchd with --enable-rehearsals, and retry."))
        }
        if !spec.tls.verify {
            services.log.warning("\(job.id) does not verify certificates: its session says so.")
        }
        let folder = services.folder
        guard let plan = try? await context.lane.run({ [job, spec] in RequestPlan(for: job, spec, in: folder) }) else {
            return .stopped(.shutdown)
        }
        let end = await fetch(plan)
        guard let file, file.isUnsound else { return end }
        guard (try? await discard(file, .badRange)) != nil else { return .stopped(.shutdown) }
        return await fetch(RequestPlan(anew: .badRange), announced: .restarted(.badRange))
    }

    /// Discards a file that received bytes after a wrong response head, promised bytes included, before the next request.
    private func discard(_ file: SegmentedFile, _ why: ResumeOutcome.RestartReason) async throws(NotStored) {
        state.withLock { ($0.file, $0.additional) = (nil, nil) }
        try await services.beginTransfer(of: job, .restarted(why), without: file.part.id)
        await services.removeParts([file.part.id])
    }

    /// - Parameter announced: how the transfer begins, as far as the store knows it before the first response.
    private func fetch(_ plan: RequestPlan, announced: ResumeOutcome? = nil) async -> End {
        let (begun, continuation) = AsyncStream<Begun>.makeStream()
        async let joined = join(begun, announced: announced)
        let (answer, loss) = await runPrimary(plan) { continuation.yield(self.begin($0)) }
        // No file begins from here on, and additional connections end when they have nothing left to do.
        continuation.finish()
        state.withLock { $0.additional }?.primaryEnded(loss)
        let additionalLoss = await joined
        if let stop = control.stop { return .stopped(stop) }
        return conclusion(answer, [loss, additionalLoss].compactMap { $0 })
    }

    /// Runs the connection that begins the file, and lets it fill segments like every other afterwards.
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

    /// On the transfer loop: the first response is accepted, and its bytes follow.
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

    /// Announces the file that has begun, and runs the additional connections to it.
    ///
    /// - Returns: why the last connection that was lost was lost; nil when there was none.
    private func join(_ begun: AsyncStream<Begun>, announced: ResumeOutcome?) async -> ConnectionLoss? {
        for await (file, additional) in begun {
            async let announcing: Void = announce(file.outcome, unless: announced)
            let loss = await additional?.run()
            // The event of the beginning is stored before that of the end.
            await announcing
            return loss
        }
        return nil
    }

    /// Clients expect a fresh beginning: it is stored with the end of the attempt.
    private func announce(_ outcome: ResumeOutcome, unless announced: ResumeOutcome?) async {
        guard outcome != .fresh, outcome != announced else { return }
        // Not stored: the engine stops, and the attempt with it.
        try? await services.beginTransfer(of: job, outcome)
    }

    /// The end of the attempt, after its last connection has ended.
    private func conclusion(_ answer: PrimaryConnection.Answer?, _ losses: [ConnectionLoss]) -> End {
        // The lost bytes may count as fetched although they are not written.
        if let loss = losses.first(where: \.isFinal) { return .failed(loss.failure, loss.hint) }
        guard let answer, answer.file.isComplete else {
            return losses.first.map { .failed($0.failure, $0.hint) } ?? .stopped(.shutdown)
        }
        let (file, size) = (answer.file, answer.file.part.written.end)
        // Where the end of the body is not marked, too few bytes mean a lost connection rather than another file.
        let isEndKnown = answer.metrics.bodyEndKnown || file.size != nil
        if !isEndKnown, let expected = spec.expectedSize, size < expected {
            return .failed(Failure(.truncated, "The body ended after \(size) of \(expected) bytes."))
        }
        if let failure = spec.refusal(ofSize: size) { return .failed(failure) }
        return .whole(
            WholePart(
                file: file.part, size: size, head: answer.head, validators: file.validators, label: file.label,
                metrics: answer.metrics, url: answer.requests.url, redirects: answer.requests.redirects,
                isLengthVerified: isEndKnown || spec.expectedSize != nil))
    }
}
