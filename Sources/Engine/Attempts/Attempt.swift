import CurlClient
import Downloads
import Foundation
import Locks
import Storage

/// One try at a job, from connect to a whole part: redirects, one restart from 0 where the server demands it, and
/// everything that ends it. What becomes of the job is decided elsewhere.
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
    private let services: EngineServices
    private let lane: DiskLane
    private let exchange = Locked(Exchange())
    private let wish: Locked<Destination>
    /// The service's, the session's and the job's own, in that order.
    private let limits: [RateLimit]
    private let ownLimit: RateLimit

    /// What the latest exchange has come to, for the checkpoint clock and for the end.
    private struct Exchange {
        var acceptance: Download.Acceptance?
        var url = ""
        /// The transaction that tells how the attempt began.
        var announcement: Task<Void, Never>?
    }

    init(_ admitted: AdmittedJob, under limits: [RateLimit], _ services: EngineServices) {
        job = admitted.job
        spec = admitted.spec
        self.services = services
        lane = services.lanes.next()
        progress = AttemptProgress(of: admitted.job, time: services.time)
        wish = Locked(admitted.job.spec.destination)
        ownLimit = RateLimit(bytesPerSecond: admitted.job.spec.rateLimit)
        self.limits = limits + [ownLimit]
    }

    /// Where the file is to go, as far as the client has said by now.
    var destination: Destination { wish.withLock { $0 } }

    /// In a commit's hook: the client has changed what can change under way.
    func take(_ spec: JobSpec) {
        wish.withLock { $0 = spec.destination }
        ownLimit.bytesPerSecond = spec.rateLimit
    }

    /// The bytes had so far, for a checkpoint; nil before a response was accepted.
    var partFile: PartFile? { exchange.withLock { $0.acceptance?.part } }

    /// The part as it would be promised with that many bytes.
    func part(durable: Int64) -> Part? {
        exchange.withLock { exchange in
            guard let acceptance = exchange.acceptance else { return nil }
            return Part(
                id: acceptance.part.id, url: exchange.url, validators: acceptance.validators,
                label: acceptance.label, size: acceptance.size, bytesDurable: durable)
        }
    }

    /// Whether this attempt has won bytes that the job never had, and that the next can go on from: else a server that
    /// breaks off each time would be asked for ever.
    var hasGained: Bool {
        guard let acceptance = exchange.withLock({ $0.acceptance }) else { return false }
        return spec.canContinue(acceptance.validators)
            && acceptance.part.written > max(acceptance.offset, job.bytesDurable)
    }

    var resume: ResumeOutcome? { exchange.withLock { $0.acceptance?.outcome } }

    /// Whether bytes that turn out wrong are worth another try: those of an earlier attempt may be to blame.
    var mayBeginAnew: Bool {
        guard case .resumed? = resume else { return false }
        return !job.isDisproved
    }

    func run() async -> End {
        let end = await follow()
        // Events keep their order: how it began is told before how it ended.
        await exchange.withLock { $0.announcement }?.value
        return end
    }

    private func follow() async -> End {
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
        var way = Itinerary(from: spec.url, with: spec.method, asking: plan.asked)
        while true {
            if let stop = control.stop { return .stopped(stop) }
            progress.enter(.connecting)
            let end = await download(way, plan.continued)
            if let stop = control.stop { return .stopped(stop) }
            if let failure = end.failure { return .failed(failure) }
            let target = end.result.metrics.redirectURL
            switch way.step(after: end.result.outcome, end.verdict, redirectingTo: target) {
            case .askAgain: continue
            case .arrived: return whole(end, way)
            case .alreadyThere(let size): return await alreadyWhole(plan.continued, size: size, end.result, way)
            case .failed(let failure): return .failed(failure, hint(end))
            case .abandoned: return .stopped(.shutdown)
            }
        }
    }

    private func download(_ way: Itinerary, _ continued: (part: Part, file: Descriptor)?) async -> Download.End {
        let asked = way.asked(after: continued?.part)
        let download = Download(
            Download.Context(
                asked: asked, label: continued?.part.label ?? FileLabel(),
                bytesHad: job.bytesDurable, spec: spec, lane: lane,
                part: { [services, lane, spec] offset, label in
                    services.partFile(at: offset, continuing: continued, digesting: spec.algorithms(label), lane)
                },
                onAccept: { [self] in accepted($0, from: way.url) },
                onBytes: { [progress] in progress.add($0) }))
        let request = RequestPlan.request(way, asked, spec, limits: limits, services)
        return await download.run(request, on: services.client, control)
    }

    /// On the transfer loop: bytes are about to come.
    private func accepted(_ acceptance: Download.Acceptance, from url: String) {
        progress.begin(
            acceptance.part, at: acceptance.offset, expected: acceptance.size, resume: acceptance.outcome)
        exchange.withLock { exchange in
            exchange.acceptance = acceptance
            exchange.url = url
            // A fresh beginning is told with the end; it is what everybody expects.
            if acceptance.outcome != .fresh { exchange.announcement = announce(acceptance.outcome) }
        }
    }

    private func announce(_ outcome: ResumeOutcome) -> Task<Void, Never> {
        Task { [services, job] in await services.beginTransfer(of: job, outcome) }
    }

    private func whole(_ end: Download.End, _ way: Itinerary) -> End {
        guard let acceptance = end.acceptance, let head = end.result.head else { return .stopped(.shutdown) }
        let size = acceptance.part.written
        if let expected = acceptance.size, expected != size {
            return .failed(Failure(.truncated, "The body ended after \(size) of \(expected) bytes."))
        }
        if let failure = spec.refusal(ofSize: size) { return .failed(failure) }
        return .whole(
            WholePart(
                file: acceptance.part, size: size, head: head, validators: acceptance.validators,
                label: acceptance.label, metrics: end.result.metrics, url: way.url, redirects: way.redirects,
                isLengthVerified: end.result.metrics.bodyEndKnown || spec.expectedSize != nil)
        )
    }

    /// Nothing was left to fetch: the crash came between the last byte and the promotion.
    private func alreadyWhole(
        _ continued: (part: Part, file: Descriptor)?, size: Int64, _ result: TransferResult, _ way: Itinerary
    ) async -> End {
        guard let continued, let head = result.head else { return .stopped(.shutdown) }
        if let failure = spec.refusal(ofSize: size) { return .failed(failure) }
        let asked = way.asked(after: continued.part)
        let now = ResponseFacts(status: head.status, headers: head.headers).validators
        let acceptance = Download.Acceptance(
            part: services.partFile(at: size, continuing: continued, digesting: [], lane), offset: size, size: size,
            outcome: .resumed(offset: size), validators: asked.validators(continuedBy: now),
            label: asked.label(continued.part.label, continuedBy: now))
        do {
            try await lane.run { try acceptance.part.open() }
        } catch {
            return .failed((error as? DiskError)?.failure ?? Failure(.storageError, "\(error)"))
        }
        accepted(acceptance, from: way.url)
        return .whole(
            WholePart(
                file: acceptance.part, size: size, head: head, validators: acceptance.validators,
                label: acceptance.label, metrics: result.metrics, url: way.url, redirects: way.redirects,
                isLengthVerified: true))
    }

    private func hint(_ end: Download.End) -> RetryPolicy.Hint {
        let facts = end.result.head.map { ResponseFacts(status: $0.status, headers: $0.headers) }
        let hasNoRoute = if case .failed(.networkUnreachable) = end.result.outcome { true } else { false }
        return RetryPolicy.Hint(retryAfter: facts?.retryDelay(at: services.time.now), hasNoRoute: hasNoRoute)
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
