import Base
import CurlClient
import Downloads
import Foundation
import HTTPSemantics

/// One connection of an attempt. It makes one exchange after another: through redirects to an accepted response, then for
/// one segment of the file after another. The primary connection begins the file with its first accepted response.
///
/// The transfer loop delivers the heads and the chunks, and must not block. The part's disk queue does all disk
/// operations, in the same order. Chunks that the queue has not written yet fill the transfer's window, so a slow disk
/// slows down the server and not the loop.
final class Connection: TransferHandler {
    struct Target: Sendable {
        var file: SegmentedFile
        var claim: SegmentClaim
        /// The discovered mirror that sends the bytes; nil for every other source.
        var mirror: String?
    }

    /// The decisions about the response of an exchange. The transfer loop calls both, so they must not touch the disk.
    struct Exchange: Sendable {
        var evaluate: @Sendable (ResponseFacts) -> ResponseDecision
        var target: @Sendable (ResponseFacts, _ size: Int64?, ResumeOutcome) -> Target
        /// A larger file fails the exchange; nil: no limit.
        var sizeLimit: SizeLimit?
    }

    /// The present exchange, or the last one. The connection keeps its result, because each suspended function that got
    /// it would reserve room for it.
    struct State {
        var exchange: Exchange?
        var waiter: CheckedContinuation<Void, Never>?
        var transfer: Transfer?
        var verdict: ResponseDecision?
        /// nil when no response was accepted.
        var target: Target?
        var start: RequestStart?
        /// The host accepts no request before this time: it has refused this one, or an earlier one.
        var heldOffUntil: Date?
        /// Bytes of the body that are still to be dropped, because the part has them already.
        var skipping: Int64 = 0
        /// The position after those bytes, if they are compared with the part first.
        var comparedEnd: Int64?
        /// Chunks after the window of the bytes that the disk takes now. They keep the transfer paused.
        var held: [Chunk] = []
        /// Of an exchange whose last chunks are held.
        var heldEnd: TransferResult?
        /// The segment is full. fetchd cancelled the rest of the response, or rejected it, because it needs no more
        /// bytes.
        var isSegmentFull = false
        /// The disk error, or the exceeded limit of the job, that ended the exchange.
        var failure: Failure?
        var result: TransferResult?

        var isOver: Bool { failure != nil || isSegmentFull }
    }

    let attempt: Attempt
    let state = Locked(State())

    init(of attempt: Attempt) { self.attempt = attempt }
}

// MARK: - The primary connection

/// The helpers of `begin` are not inlined: its task waits for the whole transfer, with room for what is inlined.
extension Connection {
    /// Begins the file with the first accepted response: follows redirects, and restarts once from 0 if the server
    /// requires that. Then it fills segments as a further connection does.
    ///
    /// - Parameter onBegin: called at most once, before the file receives a byte of the response. It is called on the
    ///   transfer loop, or on this task if the server has no byte left to send.
    /// - Returns: why fewer bytes were received than were wanted; nil when all were, or when the attempt stops. Other
    ///   connections may complete the file.
    func fetch(_ plan: RequestPlan, onBegin: @escaping @Sendable (SegmentedFile) -> Void) async -> ConnectionLoss? {
        if let loss = await begin(plan, onBegin) { return loss }
        guard let file = attempt.file, file.firstResponse != nil else { return nil }
        return await fillSegments(of: file, from: ConnectionSource(url: file.url, home: attempt.spec.home))
    }

    private func begin(
        _ plan: RequestPlan, _ onBegin: @escaping @Sendable (SegmentedFile) -> Void
    ) async -> ConnectionLoss? {
        let first = firstRequest(plan)
        var requests = first
        if plan.isWhole, let part = plan.continued?.part { return await begin(plan, whole: part, requests, onBegin) }
        if plan.needsEvidence, let loss = await weigh(plan, &requests) { return loss }
        while !attempt.control.isStopping {
            attempt.control.enter(.connecting)
            await exchange(plan, requests, onBegin)
            if hasTarget { return endFirstResponse(from: requests.url) }
            switch nextStep(&requests) {
            case .askAgain: continue
            case .weigh: if let loss = await weigh(plan, &requests) { return loss }
            case .alreadyThere:
                guard let part = partConfirmedByResponse(plan, requests) else { return nil }
                return await begin(plan, whole: part, requests, onBegin)
            case .failed(let failure): return loss(failure)
            case .abandoned where requests.url != first.url: return lossOfRedirect(to: requests.url)
            case .arrived, .abandoned: return nil
            }
        }
        return nil
    }

    @inline(never)
    private func firstRequest(_ plan: RequestPlan) -> RequestSequence {
        RequestSequence(from: attempt.spec.url, with: attempt.spec.method, asking: plan.asked)
    }

    /// The gate of a host that a redirect leads to is closed. The job waits, because it would be queued for its own host, and be
    /// redirected again.
    @inline(never)
    private func lossOfRedirect(to url: String) -> ConnectionLoss? {
        guard state.withLock({ $0.heldOffUntil != nil }) else { return nil }
        let host = URLRule.hostAndPort(of: url)
        return loss(Failure(.badStatus, "\(host), to which the server redirects, accepts no requests for a time."))
    }

    @inline(never)
    private func exchange(
        _ plan: RequestPlan, _ requests: RequestSequence, _ onBegin: @escaping @Sendable (SegmentedFile) -> Void
    ) async {
        let (exchange, request) = makeExchange(plan, requests, onBegin)
        await run(exchange, request, to: requests.url)
    }

    @inline(never)
    private func makeExchange(
        _ plan: RequestPlan, _ requests: RequestSequence, _ onBegin: @escaping @Sendable (SegmentedFile) -> Void
    ) -> (Exchange, TransferRequest) {
        let (spec, presentBytes) = (attempt.spec, attempt.job.bytesDurable)
        let asked = requests.asked(continuing: plan.continued?.part.url)
        let access = attempt.access(requests, home: spec.home)
        let exchange = Exchange(
            evaluate: { ResponseDecision.judge($0, asked: asked, presentBytes: presentBytes, access, spec) },
            target: { [self] facts, size, outcome in
                let file = makeFile(plan, requests, asked, facts, size: size, outcome)
                attempt.control.beginTransfer(of: file)
                onBegin(file)
                return Target(file: file, claim: file.firstClaim)
            }, sizeLimit: spec.sizeLimit)
        return (exchange, attempt.request(requests, asked, home: spec.home))
    }

    /// Called on the transfer loop when the head was accepted. A continued part keeps its label and its validators if
    /// the response does not repeat them.
    private func makeFile(
        _ plan: RequestPlan, _ requests: RequestSequence, _ asked: RequestedRange, _ facts: ResponseFacts,
        size: Int64?, _ outcome: ResumeOutcome
    ) -> SegmentedFile {
        let spec = attempt.spec
        let continued = outcome.isResumed ? plan.continued : nil
        let before = continued.map { asked.label($0.part.label, continuedBy: facts) }
        var label = facts.label.completed(by: before ?? FileLabel())
        // nil for a body without a coding, and for one that is stored as it was coded.
        let decoding = (spec.decodes ? facts.contentCoding : nil).flatMap { [label] coding in
            BodyDecoding(coding, claims: label.digests, digest: spec.digest)
        }
        // The server's digests are those of the coded bytes, and the size is theirs, too.
        if decoding != nil { label.digests = [] }
        let validators = continued == nil ? facts.validators : asked.validators(continuedBy: facts)
        label =
            decoding == nil
            ? attempt.completed(label, validators: validators, size: size) : attempt.listing(label)
        return SegmentedFile(
            attempt.partFile(
                continuing: continued, digesting: spec.algorithms(label),
                staging: attempt.staging(
                    continuing: continued?.part, size: size, label, isDecoded: decoding != nil, room: plan.room)),
            from: requests, size: decoding == nil ? size : nil, validators: validators, label: label,
            outcome: outcome, isRange: asked.isRange && facts.status == 206,
            evidence: continued.map { .init(asked, $0.part) } ?? .none, decoding: decoding,
            time: attempt.services.time)
    }

    @inline(never)
    private func endFirstResponse(from url: String) -> ConnectionLoss? {
        let (target, result) = state.withLock { ($0.target, $0.result) }
        if let result, let head = result.head {
            target?.file.recordFirstResponse(.init(head: head, metrics: result.metrics))
        }
        return endClaim(from: url)
    }

    /// The continued part, after the server has said that it has no byte left to send: fetchd was killed between the
    /// last byte and the end of the job.
    @inline(never)
    private func partConfirmedByResponse(_ plan: RequestPlan, _ requests: RequestSequence) -> Part? {
        guard var part = plan.continued?.part, let head = state.withLock({ $0.result?.head }) else { return nil }
        let asked = requests.asked(continuing: part.url)
        let facts = ResponseFacts(status: head.status, headers: head.headers)
        part.validators = asked.validators(continuedBy: facts)
        part.label = asked.label(part.label, continuedBy: facts)
        return part
    }

    @inline(never)
    private func begin(
        _ plan: RequestPlan, whole: Part, _ requests: RequestSequence, _ onBegin: (SegmentedFile) -> Void
    ) async -> ConnectionLoss? {
        // No digests are computed here. The part is read once before its end, when it is known which digests are wanted.
        let size = whole.bytesDurable
        let part = attempt.partFile(
            continuing: plan.continued, digesting: [],
            staging: attempt.staging(continuing: whole, size: size, whole.label, isDecoded: false, room: Int64.max))
        let file = SegmentedFile(
            part, from: requests, size: size, validators: whole.validators,
            label: attempt.completed(whole.label, validators: whole.validators, size: size),
            outcome: .resumed(offset: size, why: requests.asked.restart), isRange: true,
            evidence: whole.isJoinedByEvidence ? .found : .none, time: attempt.services.time)
        do {
            try await attempt.diskQueue.run { try part.open() }
        } catch {
            let failure = (error as? DiskError)?.failure ?? Failure(.storageError, "\(error)")
            return ConnectionLoss(failure: failure, isFinal: true)
        }
        // Without a request, the status is the same as that of a response without a byte.
        let result = state.withLock { $0.result }
        file.recordFirstResponse(
            .init(
                head: result?.head ?? ResponseHead(status: 416, httpVersion: ""),
                metrics: result?.metrics ?? TransferMetrics()))
        file.release(file.firstClaim, isBodyWhole: true)
        attempt.control.beginTransfer(of: file)
        onBegin(file)
        return nil
    }
}

// MARK: - Segments

extension Connection {
    /// Fills one segment after another, until no remaining segment is worth a request.
    ///
    /// - Parameter isWanted: called before each further segment; false ends the connection.
    /// - Returns: nil when no segment was left, or when the attempt stops.
    func fillSegments(
        of file: SegmentedFile, from source: ConnectionSource, first: SegmentClaim? = nil,
        while isWanted: () -> Bool = { true }
    ) async -> ConnectionLoss? {
        var next = first ?? file.claim()
        var hasFilledAny = false
        if source.isDiscovered, let claim = next, let loss = await refutation(of: source, file) {
            file.release(claim, isBodyWhole: false)
            return loss
        }
        while let claim = next {
            if var loss = await fill(claim, of: file, from: source) {
                loss.hasReceived = loss.hasReceived || hasFilledAny
                return loss
            }
            hasFilledAny = true
            next = isWanted() && !attempt.control.isStopping ? file.claim() : nil
        }
        return nil
    }

    private func fill(
        _ claim: SegmentClaim, of file: SegmentedFile, from source: ConnectionSource
    ) async -> ConnectionLoss? {
        guard let asked = asked(for: claim, of: file, from: source) else { return nil }
        var requests = RequestSequence(from: source.url, asking: asked)
        while !attempt.control.isStopping {
            await exchange(requests, for: claim, of: file, from: source)
            if hasTarget { return endClaim(from: source.url) }
            switch nextStep(&requests) {
            case .askAgain: continue
            case .failed(let failure):
                file.release(claim, isBodyWhole: false)
                var loss = loss(failure)
                // Either the file has changed, or its server serves one connection only. The next attempt shows which.
                loss.hint.mayPass = failure.code == .badRange
                return loss
            case .arrived, .alreadyThere, .abandoned, .weigh:
                file.release(claim, isBodyWhole: false)
                return nil
            }
        }
        file.release(claim, isBodyWhole: false)
        return nil
    }

    /// The request for a segment. If the job's checksum verifies the whole file at the end, a mirror may use other
    /// validators. (Without a strong validator the only segments are the gaps that an earlier attempt left.)
    private func asked(
        for claim: SegmentClaim, of file: SegmentedFile, from source: ConnectionSource
    ) -> RequestedRange? {
        guard var asked = file.asked(for: claim) else { return nil }
        guard attempt.spec.restsOnChecksum else { return asked }
        let isMirror = source.isMirror
        asked.restsOnChecksum = isMirror || file.validators.strong == nil
        if isMirror { asked.validators = Validators() }
        return asked
    }

    private func exchange(
        _ requests: RequestSequence, for claim: SegmentClaim, of file: SegmentedFile, from source: ConnectionSource
    ) async {
        let asked = requests.asked(continuing: file.url)
        let access = attempt.access(requests, home: source.home)
        let target = Target(file: file, claim: claim, mirror: source.isDiscovered ? source.url : nil)
        let exchange = Exchange(
            evaluate: { ResponseDecision.judge($0, asked: asked, presentBytes: asked.presentBytes, access).ofRange },
            target: { facts, _, _ in
                file.recordValidators(facts.validators)
                return target
            })
        let isSegment = attempt.control.connections > 1
        let request = attempt.request(requests, asked, home: source.home, isSegment: isSegment)
        await run(exchange, request, to: requests.url, filling: target)
    }
}

// MARK: - One exchange

extension Connection {
    /// Returns after the exchange has ended and all of its bytes are written, or when the gate of the host is closed: then there is
    /// no result.
    private func run(
        _ exchange: Exchange, _ request: TransferRequest, to url: String, filling target: Target? = nil
    ) async {
        state.withLock { $0 = State() }
        let start: RequestStart
        switch await attempt.waitForStart(at: url, filling: target) {
        case .started(let given): start = given
        case .heldOff(let until): return state.withLock { $0.heldOffUntil = until }
        case .stopped: return
        }
        var registration: Int?
        await withCheckedContinuation { waiter in
            state.withLock { $0 = State(exchange: exchange, waiter: waiter, start: start) }
            let transfer = attempt.services.client.start(request, handler: self)
            registration = attempt.control.register { transfer.cancel() }
            let (isOver, target) = state.withLock { state in
                state.transfer = transfer
                return (state.isOver, state.target)
            }
            if isOver { transfer.cancel() }
            if let target { target.file.attach(transfer, to: target.claim) }
        }
        if let registration { attempt.control.unregister(registration) }
        start.receive { _ in .none }
        // The transfer and the decisions refer to this connection.
        state.withLock { state in
            state.exchange = nil
            state.transfer = nil
        }
    }

    private var hasTarget: Bool { state.withLock { $0.target != nil } }

    @inline(never)
    private func nextStep(_ requests: inout RequestSequence) -> RequestSequence.Step {
        let (result, verdict) = state.withLock { ($0.result, $0.verdict) }
        guard let result else { return .abandoned }
        return requests.step(after: result.outcome, verdict, redirectingTo: result.metrics.redirectURL)
    }

    @inline(never)
    private func loss(_ failure: Failure) -> ConnectionLoss {
        let (result, hasTarget, heldOffUntil) = state.withLock { ($0.result, $0.target != nil, $0.heldOffUntil) }
        var loss = ConnectionLoss(failure, result, hasTarget: hasTarget, at: attempt.services.time.now)
        loss.hint.heldOffUntil = heldOffUntil
        return loss
    }

    /// Ends the claim after the exchange that filled the segment.
    ///
    /// - Returns: nil when the exchange received all wanted bytes, or was cancelled.
    @inline(never)
    private func endClaim(from url: String) -> ConnectionLoss? {
        let ended = state.withLock { $0 }
        guard let target = ended.target, let outcome = ended.result?.outcome else { return nil }
        let missing = target.file.range(of: target.claim)
        target.file.release(target.claim, isBodyWhole: outcome == .completed && ended.failure == nil)
        if let failure = ended.failure { return ConnectionLoss(failure: failure, isFinal: true) }
        guard let missing, !missing.isEmpty, !ended.isSegmentFull else { return nil }
        switch outcome {
        case .completed where missing.upperBound == .max: return nil
        case .completed: return loss(Failure(.truncated, "The body ended \(missing.count) bytes before its end."))
        case .failed(let error): return loss(Failure(error, url: url))
        case .cancelled, .rejected: return nil
        }
    }
}

// MARK: - On the transfer loop

extension Connection {
    func received(head: ResponseHead) -> HeadDecision {
        guard let exchange = state.withLock({ $0.exchange }) else { return .reject }
        let facts = ResponseFacts(status: head.status, headers: head.headers, isOfProxy: head.isOfProxy)
        let until = state.withLock(\.start)?.receive(facts, head.headers, of: attempt)
        if let until { state.withLock { $0.heldOffUntil = until } }
        let verdict = exchange.evaluate(facts)
        guard case .accept(let offset, let skipping, let size, let outcome) = verdict else {
            state.withLock { $0.verdict = verdict }
            return .reject
        }
        let target = exchange.target(facts, size, outcome)
        let alreadyPresent = target.file.recordResponse(
            target.claim, from: offset, reach: facts.rangeEnd, isMeasured: facts.contentLength != nil)
        let transfer = state.withLock { state in
            state.verdict = verdict
            state.target = target
            state.skipping = skipping + (alreadyPresent ?? 0)
            state.comparedEnd = target.file.evidence == .beingCompared ? offset : nil
            state.isSegmentFull = alreadyPresent == nil
            return state.transfer
        }
        guard alreadyPresent != nil else { return .reject }
        if let transfer { target.file.attach(transfer, to: target.claim) }
        attempt.diskQueue.async { self.prepare(target.file) }
        return .accept
    }

    func received(chunk: Chunk) {
        attempt.control.recordArrival(of: chunk.count)
        attempt.diskQueue.async { self.take(chunk) }
    }

    func finished(_ result: TransferResult) { attempt.diskQueue.async { self.end(result) } }
}
