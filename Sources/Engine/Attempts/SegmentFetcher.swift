import CurlClient
import Downloads

/// One connection to a file whose segmented file has begun: fills segments of it, one after another, until nothing is left that is
/// worth a request.
struct SegmentFetcher: Sendable {
    /// Where the bytes are asked for.
    struct Source: Sendable, Hashable {
        var url: String
        /// The address of the job by which it was found: what is meant for its origin (credentials, headers) stays there.
        var home: String
    }

    /// Why a connection brings nothing more.
    struct Loss: Sendable {
        var failure: Failure
        var hint = RetryPolicy.Hint()
        /// No other connection could make it good: the disk is full, the file too large.
        var isFinal = false
        /// It had brought bytes before.
        var hasBrought = false
    }

    let attempt: Attempt
    let file: SegmentedFile
    let source: Source

    /// - Parameter isWanted: asked before each further segment.
    func fillSegments(
        from first: SegmentLease? = nil, while isWanted: () -> Bool = { true }
    ) async -> Loss? {
        var next = first ?? file.lease()
        var hasFilledAny = false
        while let lease = next {
            if var loss = await fill(lease) {
                loss.hasBrought = loss.hasBrought || hasFilledAny
                return loss
            }
            hasFilledAny = true
            next = isWanted() && !attempt.control.isStopping ? file.lease() : nil
        }
        return nil
    }

    private func fill(_ lease: SegmentLease) async -> Loss? {
        guard let asked = asked(for: lease) else { return nil }
        var sequence = RequestSequence(from: source.url, asking: asked)
        while !attempt.control.isStopping {
            let end = await ask(sequence, lease)
            if end.target != nil { return settle(lease, end) }
            switch sequence.step(after: end.result.outcome, end.verdict, redirectingTo: end.result.metrics.redirectURL)
            {
            case .askAgain: continue
            case .failed(let failure):
                file.leave(lease, isBodyWhole: false)
                var loss = Loss(failure, end, attempt.services)
                // The file has changed, or its server plays with one connection only: another attempt finds out.
                loss.hint.mayPass = failure.code == .badRange
                return loss
            case .arrived, .alreadyThere, .abandoned:
                file.leave(lease, isBodyWhole: false)
                return nil
            }
        }
        file.leave(lease, isBodyWhole: false)
        return nil
    }

    /// Where the job's checksum proves the whole in the end, a mirror need not use the same tags for it. (Without a strong
    /// validator there are segments only of what an attempt before has left open.)
    private func asked(for lease: SegmentLease) -> RequestedRange? {
        guard var asked = file.asked(for: lease) else { return nil }
        guard attempt.spec.restsOnChecksum else { return asked }
        let isMirror = source.home != attempt.spec.url
        asked.restsOnChecksum = isMirror || file.validators.strong == nil
        if isMirror { asked.validators = Validators() }
        return asked
    }

    private func ask(_ sequence: RequestSequence, _ lease: SegmentLease) async -> Download.End {
        let (attempt, file) = (attempt, file)
        let asked = sequence.asked(continuing: file.url)
        let download = Download(
            Download.Context(
                lane: attempt.lane, maxSize: nil,
                judge: { ResponseVerdict.judge($0, asked: asked, bytesHad: asked.bytesHad).ofRange },
                target: { facts, _, _ in
                    file.join(facts.validators)
                    return Download.Target(file: file, lease: lease)
                },
                onBytes: { attempt.progress.add($0) }))
        return await download.run(
            attempt.request(sequence, asked, home: source.home, isSegment: attempt.connections > 1), for: attempt)
    }

    /// The exchange that filled a segment has ended: leaves it, and tells what went wrong, if anything did.
    func settle(_ lease: SegmentLease, _ end: Download.End) -> Loss? {
        let missing = file.range(of: lease)
        let isBodyWhole = end.result.outcome == .completed && end.failure == nil
        file.leave(lease, isBodyWhole: isBodyWhole)
        if let failure = end.failure { return Loss(failure: failure, isFinal: true) }
        guard let missing, !missing.isEmpty, !end.isSegmentFull else { return nil }
        switch end.result.outcome {
        case .completed where missing.upperBound == .max: return nil
        case .completed:
            let text = "The body ended \(missing.count) bytes before its end."
            return Loss(Failure(.truncated, text), end, attempt.services)
        case .failed(let error): return Loss(Failure(error, url: source.url), end, attempt.services)
        case .cancelled, .rejected: return nil
        }
    }
}

extension SegmentFetcher.Loss {
    init(_ failure: Failure, _ end: Download.End, _ services: EngineServices) {
        let facts = end.result.head.map { ResponseFacts(status: $0.status, headers: $0.headers) }
        let hasNoRoute = if case .failed(.networkUnreachable) = end.result.outcome { true } else { false }
        self.init(
            failure: failure,
            hint: RetryPolicy.Hint(
                retryAfter: facts?.retryDelay(at: services.time.now), hasNoRoute: hasNoRoute),
            hasBrought: end.target != nil && end.result.bytesReceived > 0)
    }
}

extension ResponseVerdict {
    /// The same where a piece of a file is asked for: nothing but that piece will do, and where it is to be had.
    fileprivate var ofRange: ResponseVerdict {
        switch self {
        case .accept(_, _, _, .resumed), .redirect, .fail: self
        case .accept, .alreadyComplete, .askFromStart:
            .fail(Failure(.badRange, "The server does not serve another range of the file as it served the first."))
        }
    }
}
