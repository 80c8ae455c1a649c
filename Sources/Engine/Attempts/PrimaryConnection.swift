import CurlClient
import Descriptors
import Downloads
import HTTPSemantics

/// The first connection of an attempt. It follows redirects, restarts once from 0 if the server requires that, and
/// begins the file with the first accepted response. It ends with that response.
struct PrimaryConnection: Sendable {
    struct End: Sendable {
        /// The response that the file began with; nil when no response was accepted.
        var answer: Answer?
        /// Why the response contained fewer bytes than were wanted; nil when it contained all, or when the attempt
        /// stops. Other connections may complete the file.
        var loss: ConnectionLoss?
    }

    /// A class, for the same reason as `Download.End`.
    final class Answer: Sendable {
        let file: SegmentedFile
        let head: ResponseHead
        let metrics: TransferMetrics
        /// The requests that led to the response.
        let requests: RequestSequence

        init(file: SegmentedFile, head: ResponseHead, metrics: TransferMetrics, requests: RequestSequence) {
            (self.file, self.head, self.metrics, self.requests) = (file, head, metrics, requests)
        }
    }

    /// Makes the part file that bytes are written to. Called on the transfer loop, so it must not touch the disk.
    ///
    /// - Parameter continued: the promised part that the response continues; nil: a new part is made.
    typealias MakePart = @Sendable (_ continued: (part: Part, file: Descriptor)?, Set<Checksum.Algorithm>) -> PartFile

    private let context: AttemptContext
    private let continued: (part: Part, file: Descriptor)?
    private let isWhole: Bool
    private let makePart: MakePart
    private let onBegin: @Sendable (SegmentedFile) -> Void
    private var requests: RequestSequence

    /// - Parameter onBegin: called at most once, before the file receives a byte of the response. It is called on the
    ///   transfer loop, or on the task of `run()` if the server has no byte left to send.
    init(
        _ context: AttemptContext, _ plan: RequestPlan, makePart: @escaping MakePart,
        onBegin: @escaping @Sendable (SegmentedFile) -> Void
    ) {
        self.context = context
        self.makePart = makePart
        self.onBegin = onBegin
        (continued, isWhole) = (plan.continued, plan.isWhole)
        requests = RequestSequence(from: context.spec.url, with: context.spec.method, asking: plan.asked)
    }

    mutating func run() async -> End {
        if isWhole, let continued { return await promote(continued.part) }
        while !context.control.isStopping {
            context.progress.enter(.connecting)
            let end = await ask()
            if let target = end.target { return settle(target, end) }
            switch requests.step(after: end.result.outcome, end.verdict, redirectingTo: end.result.metrics.redirectURL)
            {
            case .askAgain: continue
            case .alreadyThere: return await alreadyThere(end)
            case .failed(let failure): return End(loss: ConnectionLoss(failure, end, at: context.time.now))
            case .arrived, .abandoned: return End()
            }
        }
        return End()
    }

    private func ask() async -> Download.End {
        let (spec, bytesHad) = (context.spec, context.job.bytesDurable)
        let asked = requests.asked(continuing: continued?.part.url)
        let access = context.access(requests, home: spec.url)
        let download = Download(
            context, sizeLimit: spec.sizeLimit,
            judge: { ResponseVerdict.judge($0, asked: asked, bytesHad: bytesHad, access, spec) },
            target: { [self] in begin($0, asked, size: $1, $2) })
        return await download.run(context.request(requests, asked, home: spec.url))
    }

    /// Called on the transfer loop when the head was accepted. A continued part keeps its label and its validators if
    /// the response does not repeat them.
    private func begin(
        _ facts: ResponseFacts, _ asked: RequestedRange, size: Int64?, _ outcome: ResumeOutcome
    ) -> Download.Target {
        let continued = outcome.isResumed ? continued : nil
        let before = continued.map { asked.label($0.part.label, continuedBy: facts) }
        var label = facts.label.completed(by: before ?? FileLabel())
        let decoding = decoding(facts, label)
        // The server's digests are those of the coded bytes, and the size is theirs, too.
        if decoding != nil { label.digests = [] }
        let file = SegmentedFile(
            makePart(continued, context.spec.algorithms(label)),
            from: requests.url, size: decoding == nil ? size : nil,
            validators: continued == nil ? facts.validators : asked.validators(continuedBy: facts), label: label,
            outcome: outcome, isRange: asked.isRange && facts.status == 206, decoding: decoding, time: context.time)
        begin(file)
        return Download.Target(file: file, lease: file.firstLease)
    }

    /// - Returns: nil for a body without a coding, and for one that is stored as it was coded.
    private func decoding(_ facts: ResponseFacts, _ label: FileLabel) -> BodyDecoding? {
        guard context.spec.decodes, let coding = facts.contentCoding else { return nil }
        return BodyDecoding(coding, claims: label.digests, digest: context.spec.digest)
    }

    private func begin(_ file: SegmentedFile) {
        context.progress.begin(file.part, at: file.bytesHad, expected: file.size, resume: file.outcome)
        onBegin(file)
    }

    private func settle(_ target: Download.Target, _ end: Download.End) -> End {
        let answer = end.result.head.map {
            Answer(file: target.file, head: $0, metrics: end.result.metrics, requests: requests)
        }
        return End(answer: answer, loss: target.settle(after: end, from: requests.url, at: context.time.now))
    }

    /// Called when the server has no byte left to send: fetchd was killed between the last byte and the promotion.
    private func alreadyThere(_ end: Download.End) async -> End {
        guard let continued, let head = end.result.head else { return End() }
        let asked = requests.asked(continuing: continued.part.url)
        let facts = ResponseFacts(status: head.status, headers: head.headers)
        var part = continued.part
        (part.validators, part.label) = (
            asked.validators(continuedBy: facts), asked.label(part.label, continuedBy: facts)
        )
        return await promote(part, head, end.result.metrics)
    }

    /// Begins a file that lacks no byte.
    ///
    /// - Parameters:
    ///   - whole: the continued part.
    ///   - head: of the response that has said so. Without a request, the status is the same.
    private func promote(
        _ whole: Part, _ head: ResponseHead = ResponseHead(status: 416, httpVersion: ""),
        _ metrics: TransferMetrics = TransferMetrics()
    ) async -> End {
        // No digests are computed here. The promoter reads the part once, when it knows which digests are wanted.
        let part = makePart(continued, [])
        let size = whole.bytesDurable
        let file = SegmentedFile(
            part, from: requests.url, size: size, validators: whole.validators, label: whole.label,
            outcome: .resumed(offset: size, why: requests.asked.restart), isRange: true, time: context.time)
        do {
            try await context.lane.run { try part.open() }
        } catch {
            let failure = (error as? DiskError)?.failure ?? Failure(.storageError, "\(error)")
            return End(loss: ConnectionLoss(failure: failure, isFinal: true))
        }
        file.leave(file.firstLease, isBodyWhole: true)
        begin(file)
        return End(answer: Answer(file: file, head: head, metrics: metrics, requests: requests))
    }
}
