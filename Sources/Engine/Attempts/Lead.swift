import CurlClient
import Downloads
import HTTPSemantics

/// The first connection of an attempt: finds the file, through redirects and one restart from 0 where the server demands
/// it, and begins its assembly; then it fills shares like every other.
struct Lead {
    struct End: Sendable {
        /// What answered; nil when no response was accepted.
        var answer: Answer?
        /// Why it brings nothing more; others may complete what it began. nil: its part is done, or it was stopped.
        var loss: Connection.Loss?
    }

    /// The response that the assembly began with.
    struct Answer: Sendable {
        var head: ResponseHead
        var metrics: TransferMetrics
        var way: Itinerary
    }

    private let attempt: Attempt
    private let continued: (part: Part, file: Descriptor)?
    private var way: Itinerary

    init(_ attempt: Attempt, _ plan: RequestPlan) {
        self.attempt = attempt
        continued = plan.continued
        way = Itinerary(from: attempt.spec.url, with: attempt.spec.method, asking: plan.asked)
    }

    mutating func run() async -> End {
        while !attempt.control.isStopping {
            attempt.progress.enter(.connecting)
            let end = await ask()
            if let share = end.share { return await goOn(with: share, after: end) }
            switch way.step(after: end.result.outcome, end.verdict, redirectingTo: end.result.metrics.redirectURL) {
            case .askAgain: continue
            case .alreadyThere: return await alreadyThere(end)
            case .failed(let failure): return End(loss: Connection.Loss(failure, end, attempt.services))
            case .arrived, .abandoned: return End()
            }
        }
        return End()
    }

    private func ask() async -> Download.End {
        let (attempt, asked) = (attempt, way.asked(continuing: continued?.part.url))
        let download = Download(
            Download.Context(
                lane: attempt.lane, maxSize: attempt.spec.maxSize,
                judge: { ResponseVerdict.judge($0, asked: asked, bytesHad: attempt.job.bytesDurable, attempt.spec) },
                share: { [self] in begin($0, asked, size: $1, $2) },
                onBytes: { attempt.progress.add($0) }))
        return await download.run(attempt.request(way, asked, home: attempt.spec.url), for: attempt)
    }

    /// On the transfer loop: the head was accepted. What goes on is what the part's own validators stand for: the rest of
    /// a file need not repeat all that was said of it.
    private func begin(
        _ facts: ResponseFacts, _ asked: RequestedRange, size: Int64?, _ outcome: ResumeOutcome
    ) -> Download.Share {
        let continued = outcome.isResumed ? continued : nil
        let before = continued.map { asked.label($0.part.label, continuedBy: facts) }
        let label = facts.label.completed(by: before ?? FileLabel())
        let assembly = Assembly(
            attempt.services.partFile(
                continuing: continued, digesting: attempt.spec.algorithms(label), attempt.lane),
            from: way.url, size: size,
            validators: continued == nil ? facts.validators : asked.validators(continuedBy: facts), label: label,
            outcome: outcome, isRange: asked.isRange && facts.status == 206, time: attempt.services.time)
        attempt.begin(assembly)
        return Download.Share(assembly: assembly, claim: assembly.firstClaim)
    }

    private func goOn(with share: Download.Share, after end: Download.End) async -> End {
        let answer = end.result.head.map { Answer(head: $0, metrics: end.result.metrics, way: way) }
        let connection = Connection(
            attempt: attempt, assembly: share.assembly, source: Connection.Source(url: way.url, home: attempt.spec.url))
        if let loss = connection.settle(share.claim, end) { return End(answer: answer, loss: loss) }
        return End(answer: answer, loss: await connection.fillShares())
    }

    /// Nothing was left to fetch: the crash came between the last byte and the promotion.
    private func alreadyThere(_ end: Download.End) async -> End {
        guard let continued, let head = end.result.head else { return End() }
        let asked = way.asked(continuing: continued.part.url)
        let facts = ResponseFacts(status: head.status, headers: head.headers)
        // What is there is read once, when it is known what has to be computed.
        let part = attempt.services.partFile(continuing: continued, digesting: [], attempt.lane)
        let size = continued.part.bytesDurable
        let assembly = Assembly(
            part, from: way.url, size: size, validators: asked.validators(continuedBy: facts),
            label: asked.label(continued.part.label, continuedBy: facts),
            outcome: .resumed(offset: size, why: asked.restart),
            isRange: true, time: attempt.services.time)
        do {
            try await attempt.lane.run { try part.open() }
        } catch {
            let failure = (error as? DiskError)?.failure ?? Failure(.storageError, "\(error)")
            return End(loss: Connection.Loss(failure: failure, isFinal: true))
        }
        assembly.leave(assembly.firstClaim, isBodyWhole: true)
        attempt.begin(assembly)
        return End(answer: Answer(head: head, metrics: end.result.metrics, way: way))
    }
}

extension ResponseVerdict {
    /// A size that the job does not want is refused before a byte of it is written.
    static func judge(
        _ facts: ResponseFacts, asked: RequestedRange, bytesHad: Int64, _ spec: ResolvedSpec
    ) -> ResponseVerdict {
        let verdict = judge(facts, asked: asked, bytesHad: bytesHad)
        guard case .accept(_, _, let size?, _) = verdict else { return verdict }
        return spec.refusal(ofSize: size).map(ResponseVerdict.fail) ?? verdict
    }
}

extension ResumeOutcome {
    var isResumed: Bool { if case .resumed = self { true } else { false } }
}

extension ResolvedSpec {
    /// What is wrong with a file of that many bytes; nil when nothing is.
    func refusal(ofSize size: Int64) -> Failure? {
        if let wanted = expectedSize, wanted != size {
            return Failure(.sizeMismatch, "The file has \(size) bytes; \(wanted) were expected.")
        }
        if let limit = maxSize, size > limit { return .tooLarge(limit) }
        return nil
    }
}
