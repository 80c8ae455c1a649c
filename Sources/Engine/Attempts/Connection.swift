import CurlClient
import Downloads
import HTTPSemantics

/// One connection to a file whose assembly has begun: fills shares of it, one after another, until nothing is left that is
/// worth a request.
struct Connection: Sendable {
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
    let assembly: Assembly
    let source: Source

    /// - Parameter isWanted: asked before each further share.
    func fillShares(
        from first: Segments.Claim? = nil, while isWanted: () -> Bool = { true }
    ) async -> Loss? {
        var next = first ?? assembly.claim()
        var hasFilledAny = false
        while let claim = next {
            if var loss = await fill(claim) {
                loss.hasBrought = loss.hasBrought || hasFilledAny
                return loss
            }
            hasFilledAny = true
            next = isWanted() && !attempt.control.isStopping ? assembly.claim() : nil
        }
        return nil
    }

    private func fill(_ claim: Segments.Claim) async -> Loss? {
        guard let asked = asked(for: claim) else { return nil }
        var way = Itinerary(from: source.url, asking: asked)
        while !attempt.control.isStopping {
            let end = await ask(way, claim)
            if end.share != nil { return settle(claim, end) }
            switch way.step(after: end.result.outcome, end.verdict, redirectingTo: end.result.metrics.redirectURL) {
            case .askAgain: continue
            case .failed(let failure):
                assembly.leave(claim, isBodyWhole: false)
                var loss = Loss(failure, end, attempt.services)
                // The file has changed, or its server plays with one connection only: another attempt finds out.
                loss.hint.mayPass = failure.code == .badRange
                return loss
            case .arrived, .alreadyThere, .abandoned:
                assembly.leave(claim, isBodyWhole: false)
                return nil
            }
        }
        assembly.leave(claim, isBodyWhole: false)
        return nil
    }

    /// Where the job's checksum proves the whole in the end, a mirror need not use the same tags for it. (Without a strong
    /// validator there are shares only of what an attempt before has left open.)
    private func asked(for claim: Segments.Claim) -> RequestedRange? {
        guard var asked = assembly.asked(for: claim) else { return nil }
        guard attempt.spec.restsOnChecksum else { return asked }
        let isMirror = source.home != attempt.spec.url
        asked.restsOnChecksum = isMirror || assembly.validators.strong == nil
        if isMirror { asked.validators = Validators() }
        return asked
    }

    private func ask(_ way: Itinerary, _ claim: Segments.Claim) async -> Download.End {
        let (attempt, assembly) = (attempt, assembly)
        let asked = way.asked(continuing: assembly.url)
        let download = Download(
            Download.Context(
                lane: attempt.lane, maxSize: nil,
                judge: { ResponseVerdict.judge($0, asked: asked, bytesHad: asked.bytesHad).ofRange },
                share: { facts, _, _ in
                    assembly.join(facts.validators)
                    return Download.Share(assembly: assembly, claim: claim)
                },
                onBytes: { attempt.progress.add($0) }))
        return await download.run(
            attempt.request(way, asked, home: source.home, isShare: attempt.connections > 1), for: attempt)
    }

    /// The exchange that filled a share has ended: leaves it, and tells what went wrong, if anything did.
    func settle(_ claim: Segments.Claim, _ end: Download.End) -> Loss? {
        let missing = assembly.range(of: claim)
        let isBodyWhole = end.result.outcome == .completed && end.failure == nil
        assembly.leave(claim, isBodyWhole: isBodyWhole)
        if let failure = end.failure { return Loss(failure: failure, isFinal: true) }
        guard let missing, !missing.isEmpty, !end.isShareFull else { return nil }
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

extension Connection.Loss {
    init(_ failure: Failure, _ end: Download.End, _ services: EngineServices) {
        let facts = end.result.head.map { ResponseFacts(status: $0.status, headers: $0.headers) }
        let hasNoRoute = if case .failed(.networkUnreachable) = end.result.outcome { true } else { false }
        self.init(
            failure: failure,
            hint: RetryPolicy.Hint(
                retryAfter: facts?.retryDelay(at: services.time.now), hasNoRoute: hasNoRoute),
            hasBrought: end.share != nil && end.result.bytesReceived > 0)
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
