import CurlClient
import Downloads
import Foundation
import HTTPSemantics
import Locks
import Storage

/// One try at a job, from connect to a whole part, over one connection or several, and everything that ends it. What
/// becomes of the job is decided elsewhere.
final class Attempt: Sendable {
    enum End: Sendable {
        /// Every byte is written (not yet synced), and the sizes are as they should be.
        case whole(WholePart)
        case stopped(AttemptControl.Stop)
        case failed(Failure, RetryPolicy.Hint = RetryPolicy.Hint())
    }

    let job: Job
    let spec: ResolvedSpec
    let control = AttemptControl()
    let progress: AttemptProgress
    let services: EngineServices
    let lane: DiskLane
    /// The service's, the session's and the job's own, in that order.
    let limits: [RateLimit]
    private let ownLimit: RateLimit
    private let wish: Locked<JobSpec>
    private let opening = Locked(Opening())
    /// From the transfer loop to the attempt's task.
    private let announcements = AsyncStream<Announcement>.makeStream()
    /// Rings when something has changed for the connections beside the first.
    let crewBell = Alarm()

    /// What the first response that was accepted has begun.
    private struct Opening {
        var assembly: Assembly?
        var announcement: Announcement?
        /// A restart that was told before the response that begins it.
        var restart: ResumeOutcome?
        /// Takes the connections beside the first to the task that runs them.
        var crews: AsyncStream<Crew>.Continuation?
        var crew: Crew?
    }

    /// How the attempt began, to be told to the store.
    private struct Announcement: Sendable {
        let outcome: ResumeOutcome
        /// Opens when the transaction is over.
        let isOver = Latch()
    }

    init(_ admitted: AdmittedJob, under limits: [RateLimit], _ services: EngineServices) {
        job = admitted.job
        spec = admitted.spec
        self.services = services
        lane = services.lanes.next()
        progress = AttemptProgress(of: admitted.job, time: services.time, total: services.received)
        wish = Locked(admitted.job.spec)
        ownLimit = RateLimit(bytesPerSecond: admitted.job.spec.rateLimit)
        self.limits = limits + [ownLimit]
    }

    /// Where the file is to go, as far as the client has said by now.
    var destination: Destination { wish.withLock { $0.destination } }

    /// Connections to the file at once, as far as the client has said by now; one where pieces were put together and wrong.
    var connections: Int { job.isDisproved ? 1 : wish.withLock { $0.connections } ?? spec.connections }

    /// Whether any of the limits that its transfers share is one.
    var isRateLimited: Bool { limits.contains { $0.bytesPerSecond != nil } }

    /// In a commit's hook: the client has changed what can change under way.
    func take(_ spec: JobSpec) {
        wish.withLock { $0 = spec }
        ownLimit.bytesPerSecond = spec.rateLimit
        crewBell.ring()
    }

    private var assembly: Assembly? { opening.withLock { $0.assembly } }

    /// The bytes had so far, for a checkpoint; nil before a response was accepted.
    var partFile: PartFile? { assembly?.part }

    /// The part as it can be promised now.
    var part: Part? {
        assembly.map { assembly in
            // First what is there: what is promised of it may become less meanwhile, never more.
            let ranges = assembly.part.durable
            let (validators, label) = assembly.promise
            return Part(
                id: assembly.part.id, url: assembly.url, validators: validators, label: label, size: assembly.size,
                ranges: ranges)
        }
    }

    /// Whether this attempt has won bytes that the job never had, and that the next can go on from: else a server that
    /// breaks off each time would be asked for ever.
    var hasGained: Bool {
        guard let assembly, assembly.part.fault == nil else { return false }
        return spec.canContinue(assembly.validators)
            && assembly.part.written.count > max(assembly.bytesHad, job.bytesDurable)
    }

    var resume: ResumeOutcome? { assembly?.outcome }

    /// Whether bytes that turn out wrong are worth another try: those of an earlier attempt, or of another connection, may be
    /// to blame.
    var mayBeginAnew: Bool {
        guard let assembly, !job.isDisproved else { return false }
        return assembly.outcome.isResumed || assembly.isShared
    }

    func run() async -> End {
        async let announcing: Void = announce()
        let end = await fetch()
        announcements.continuation.finish()
        // Events keep their order: how it began is told before how it ended.
        await announcing
        return end
    }

    private func announce() async {
        for await announcement in announcements.stream {
            // Not stored: the engine stops, and the attempt with it.
            try? await services.beginTransfer(of: job, announcement.outcome)
            announcement.isOver.open()
        }
    }

    private func fetch() async -> End {
        if Rehearsal.isRehearsal(spec.url), services.rehearsalOrigin == nil {
            return .failed(
                Failure(.badURL, "Rehearsals are switched off: start fetchd with --enable-rehearsals, and retry."))
        }
        if !spec.tls.verify {
            services.log.warning("\(job.id) does not verify certificates: its session says so.")
        }
        let folder = services.folder
        guard let plan = try? await lane.run({ [job, spec] in RequestPlan(for: job, spec, in: folder) }) else {
            return .stopped(.shutdown)
        }
        let end = await fetch(plan)
        guard let assembly, assembly.isUnsound else { return end }
        guard (try? await giveUp(assembly, .badRange)) != nil else { return .stopped(.shutdown) }
        return await fetch(RequestPlan(anew: .badRange))
    }

    private func fetch(_ plan: RequestPlan) async -> End {
        let (crews, continuation) = AsyncStream<Crew>.makeStream()
        opening.withLock { $0.crews = continuation }
        async let others = Self.loss(of: crews)
        var lead = Lead(self, plan)
        let end = await lead.run()
        dismissCrew(after: end.loss)
        let loss = await others
        if let stop = control.stop { return .stopped(stop) }
        return conclusion(end, loss)
    }

    /// What came under a head that was not true is no part of the file, promised or not: it goes before anything else is
    /// asked for. (Of a head that was refused, nothing came.)
    private func giveUp(_ assembly: Assembly, _ why: ResumeOutcome.RestartReason) async throws(NotStored) {
        let announcement = opening.withLock { opening in
            opening.assembly = nil
            opening.restart = .restarted(why)
            return opening.announcement
        }
        await announcement?.isOver.wait()
        try await services.beginTransfer(of: job, .restarted(why), without: assembly.part.id)
        services.folder.removePart(assembly.part.id)
    }

    /// - Returns: why the last connection beside the first was lost; nil when there was none, or none was lost.
    private static func loss(of crews: AsyncStream<Crew>) async -> Connection.Loss? {
        for await crew in crews { return await crew.run() }
        return nil
    }

    /// The first connection has ended: no crew begins any more, and the one there is ends by itself.
    private func dismissCrew(after loss: Connection.Loss?) {
        // Taken: the crew holds on to the attempt, and together they would keep the part's descriptor for ever.
        let (crew, crews) = opening.withLock { ($0.crew.take(), $0.crews.take()) }
        crews?.finish()
        crew?.leadLeft(loss)
    }

    /// What the connections together have come to.
    private func conclusion(_ lead: Lead.End, _ others: Connection.Loss?) -> End {
        let losses = [lead.loss, others].compactMap { $0 }
        // Its bytes may count as fetched, and are not all written.
        if let loss = losses.first(where: \.isFinal) { return .failed(loss.failure, loss.hint) }
        let loss = losses.first
        guard let assembly, assembly.isComplete, let answer = lead.answer else {
            return loss.map { .failed($0.failure, $0.hint) } ?? .stopped(.shutdown)
        }
        let size = assembly.part.written.end
        // Where nothing marks the end of a body, too few bytes are a lost connection rather than another file.
        let isEndKnown = answer.metrics.bodyEndKnown || assembly.size != nil
        if !isEndKnown, let expected = spec.expectedSize, size < expected {
            return .failed(Failure(.truncated, "The body ended after \(size) of \(expected) bytes."))
        }
        if let failure = spec.refusal(ofSize: size) { return .failed(failure) }
        return .whole(
            WholePart(
                file: assembly.part, size: size, head: answer.head, validators: assembly.validators,
                label: assembly.label, metrics: answer.metrics, url: answer.way.url, redirects: answer.way.redirects,
                isLengthVerified: isEndKnown || spec.expectedSize != nil))
    }

    /// On the transfer loop: the first response is accepted, bytes are about to come.
    func begin(_ assembly: Assembly) {
        progress.begin(assembly.part, at: assembly.bytesHad, expected: assembly.size, resume: assembly.outcome)
        opening.withLock { opening in
            opening.assembly = assembly
            // A fresh beginning is told with the end; it is what everybody expects.
            if assembly.outcome != .fresh, assembly.outcome != opening.restart {
                let announcement = Announcement(outcome: assembly.outcome)
                opening.announcement = announcement
                if case .terminated = announcements.continuation.yield(announcement) { announcement.isOver.open() }
            }
            guard assembly.isDivisible else { return }
            let crew = Crew(self, assembly)
            opening.crew = crew
            opening.crews?.yield(crew)
        }
    }
}

/// A part with every byte written, and how they came.
struct WholePart: Sendable {
    var file: PartFile
    var size: Int64
    var head: ResponseHead
    var validators: Validators
    var label: FileLabel
    var metrics: TransferMetrics
    /// The last address, after redirects.
    var url: String
    var redirects: [String]
    var isLengthVerified: Bool
}
