import CurlClient
import Downloads
import HTTPSemantics

/// One connection to a file that the primary connection has begun. It fills one segment after another, until no
/// remaining segment is worth a request.
struct SegmentFetcher: Sendable {
    let context: AttemptContext
    let file: SegmentedFile
    let source: SegmentSource

    /// - Parameters:
    ///   - first: the segment to begin with; nil: the fetcher takes a lease itself.
    ///   - isWanted: called before each further segment; false ends the connection.
    /// - Returns: nil when no segment was left, or when the attempt stops.
    func fillSegments(
        from first: SegmentLease? = nil, while isWanted: () -> Bool = { true }
    ) async -> ConnectionLoss? {
        var next = first ?? file.lease()
        var hasFilledAny = false
        while let lease = next {
            if var loss = await fill(lease) {
                loss.hasBrought = loss.hasBrought || hasFilledAny
                return loss
            }
            hasFilledAny = true
            next = isWanted() && !context.control.isStopping ? file.lease() : nil
        }
        return nil
    }

    private func fill(_ lease: SegmentLease) async -> ConnectionLoss? {
        guard let asked = asked(for: lease) else { return nil }
        var requests = RequestSequence(from: source.url, asking: asked)
        while !context.control.isStopping {
            let end = await ask(requests, lease)
            if let target = end.target { return target.settle(after: end, from: source.url, at: context.time.now) }
            switch requests.step(after: end.result.outcome, end.verdict, redirectingTo: end.result.metrics.redirectURL)
            {
            case .askAgain: continue
            case .failed(let failure):
                file.leave(lease, isBodyWhole: false)
                var loss = ConnectionLoss(failure, end, at: context.time.now)
                // Either the file has changed, or its server serves one connection only. The next attempt shows which.
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

    /// The request for a segment. If the job's checksum verifies the whole file at the end, a mirror may use other
    /// validators. (Without a strong validator the only segments are the gaps that an earlier attempt left.)
    private func asked(for lease: SegmentLease) -> RequestedRange? {
        guard var asked = file.asked(for: lease) else { return nil }
        guard context.spec.restsOnChecksum else { return asked }
        let isMirror = source.home != context.spec.url
        asked.restsOnChecksum = isMirror || file.validators.strong == nil
        if isMirror { asked.validators = Validators() }
        return asked
    }

    private func ask(_ requests: RequestSequence, _ lease: SegmentLease) async -> Download.End {
        let (file, asked) = (file, requests.asked(continuing: file.url))
        let access = context.access(requests, home: source.home)
        let download = Download(
            context, sizeLimit: nil,
            judge: { ResponseVerdict.judge($0, asked: asked, bytesHad: asked.bytesHad, access).ofRange },
            target: { facts, _, _ in
                file.join(facts.validators)
                return Download.Target(file: file, lease: lease)
            })
        return await download.run(
            context.request(requests, asked, home: source.home, isSegment: context.limits.connections > 1))
    }
}

extension ResponseVerdict {
    /// The verdict on a request for one segment: only the bytes of that segment are accepted.
    fileprivate var ofRange: ResponseVerdict {
        switch self {
        case .accept(_, _, _, .resumed), .redirect, .fail: self
        case .accept, .alreadyComplete, .askFromStart:
            .fail(Failure(.badRange, "The server does not serve another range of the file as it served the first."))
        }
    }
}
