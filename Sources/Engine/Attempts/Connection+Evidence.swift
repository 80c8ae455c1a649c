import Base
import CurlClient
import Downloads
import Glibc
import HTTPSemantics

/// Bytes that are fetched again and compared with the stored ones, where no validator shows that both have one version.
extension Connection {
    /// Compares samples, and prepares the next request: for the rest and some bytes before it, or for the whole file.
    ///
    /// - Returns: why no decision was possible; nil after one, and when the attempt stops.
    func weigh(_ plan: RequestPlan, _ requests: inout RequestSequence) async -> ConnectionLoss? {
        guard let continued = plan.continued else { return nil }
        let (part, folder) = (continued.part, attempt.location.folder)
        for range in part.samples {
            attempt.control.enter(.connecting)
            switch await sample(range, of: part, requests) {
            case .failed(let loss): return loss
            case .received(let bytes):
                let isEqual = try? await attempt.diskQueue.run {
                    let file = try continued.open(in: folder)
                    return bytes.withUnsafeBytes { file.has($0, at: range.lowerBound) }
                }
                if isEqual == true { continue }
                requests.refute(.overlapMismatch)
                return nil
            case .refused(let why):
                requests.refute(why)
                return nil
            case nil: return nil
            }
        }
        requests.weigh(overlapping: part.overlap)
        return nil
    }

    /// Compares samples of the file with those of a mirror that the server of the job has named, once in an attempt. A digest would
    /// show other bytes too, but not whose they are.
    ///
    /// - Returns: why the mirror is not used; nil if it has the same bytes, and when the attempt stops.
    func refutation(of source: ConnectionSource, _ file: SegmentedFile) async -> ConnectionLoss? {
        if attempt.state.withLock({ $0.comparedMirrors.contains(source.url) }) { return nil }
        var part = file.durablePart
        part.ranges = file.part.written
        part.released = file.part.staging?.released
        var asked = RequestedRange(offset: 0, size: file.size)
        asked.presentBytes = part.bytesDurable
        // Its tag is judged with its first segment.
        asked.restsOnChecksum = true
        let requests = RequestSequence(from: source.url, asking: asked)
        for range in part.samples {
            switch await sample(range, of: part, requests) {
            case .received(let bytes):
                let isEqual = try? await attempt.diskQueue.run {
                    let stored = try file.part.file
                    return bytes.withUnsafeBytes { stored.has($0, at: range.lowerBound) }
                }
                if isEqual == true { continue }
                return ConnectionLoss(
                    failure: Failure(.badRange, "It sent other bytes than the server of the job."))
            case .refused(let why):
                return ConnectionLoss(failure: Failure(.badRange, "It does not have the file (\(why.rawValue))."))
            case .failed(let loss): return loss
            case nil: return nil
            }
        }
        attempt.state.withLock { _ = $0.comparedMirrors.insert(source.url) }
        return nil
    }

    /// - Returns: nil when the attempt stops.
    private func sample(
        _ range: Range<Int64>, of part: Part, _ requests: RequestSequence
    ) async -> SampleFetch.Outcome? {
        var requests = requests
        while !attempt.control.isStopping {
            let start: RequestStart
            switch await attempt.waitForStart(at: requests.url) {
            case .started(let given): start = given
            case .heldOff(let until): return .failed(ConnectionLoss(heldOff: requests.url, until: until))
            case .stopped: return nil
            }
            let asked = requests.asked(continuing: part.url).sample(range)
            let fetch = SampleFetch(asked, attempt.access(requests, home: attempt.spec.home), of: attempt, start)
            await fetch.run(attempt.request(requests, asked, home: attempt.spec.home))
            start.receive { _ in .none }
            guard let target = fetch.redirect else { return fetch.outcome(from: requests.url) }
            guard case .askAgain = requests.step(after: .rejected, fetch.verdict, redirectingTo: target) else {
                return .refused(.badRange)
            }
        }
        return nil
    }

    /// Whether the part has the first bytes of a chunk. If not, the file is abandoned.
    func isStored(_ chunk: Chunk, _ count: Int64, at place: Int64, in file: SegmentedFile) -> Bool {
        let isEqual = chunk.withUnsafeBytes { bytes in
            let compared = UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(count)))
            return (try? file.part.file.has(compared, at: place)) ?? false
        }
        if !isEqual {
            file.markCorrupt(.overlapMismatch)
            fail(Failure(.badRange, "The server sent other bytes than those that are stored."))
        }
        return isEqual
    }
}

extension RequestPlan {
    /// Whether no request can show by a validator that the stored bytes belong to the file, so that they are compared first.
    var needsEvidence: Bool {
        asked.policy == .evidence && asked.presentBytes > 0 && asked.size != nil && asked.validators.strong == nil
            && !asked.restsOnChecksum && !isWhole
    }
}

extension SegmentedFile.Evidence {
    init(_ asked: RequestedRange, _ continued: Part) {
        self = asked.isWeighed ? .beingCompared : continued.isJoinedByEvidence ? .found : .none
    }
}

extension Descriptor {
    /// Whether the file has these bytes at a position. A read that fails counts as a difference.
    func has(_ bytes: UnsafeRawBufferPointer, at position: Int64) -> Bool {
        var stored = [UInt8](repeating: 0, count: bytes.count)
        guard pread(number, &stored, stored.count, off_t(position)) == stored.count else { return false }
        return stored.withUnsafeBytes { $0.elementsEqual(bytes) }
    }
}

/// One request for a sample.
private final class SampleFetch: TransferHandler {
    enum Outcome: Sendable {
        case received([UInt8])
        /// The response cannot have these bytes.
        case refused(ResumeOutcome.RestartReason)
        case failed(ConnectionLoss)
    }

    private struct State {
        var verdict: ResponseDecision?
        var bytes: [UInt8] = []
        var result: TransferResult?
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let asked: RequestedRange
    private let access: RequestAccess
    private let attempt: Attempt
    private let start: RequestStart
    private let state = Locked(State())

    init(_ asked: RequestedRange, _ access: RequestAccess, of attempt: Attempt, _ start: RequestStart) {
        self.asked = asked
        self.access = access
        self.attempt = attempt
        self.start = start
    }

    var verdict: ResponseDecision? { state.withLock { $0.verdict } }

    /// The URL of a redirect; nil for every other response.
    var redirect: String? {
        guard case .redirect? = verdict else { return nil }
        return state.withLock { $0.result?.metrics.redirectURL }
    }

    func run(_ request: TransferRequest) async {
        var registration: Int?
        await withCheckedContinuation { waiter in
            state.withLock { $0.waiter = waiter }
            let transfer = attempt.services.client.start(request, handler: self)
            registration = attempt.control.register { transfer.cancel() }
        }
        if let registration { attempt.control.unregister(registration) }
    }

    /// - Returns: nil when the transfer was cancelled.
    func outcome(from url: String) -> Outcome? {
        let (verdict, bytes, result) = state.withLock { ($0.verdict, $0.bytes, $0.result) }
        guard let result else { return nil }
        let now = attempt.services.time.now
        switch (result.outcome, verdict) {
        case (.completed, .accept) where asked.end == asked.offset + Int64(bytes.count): return .received(bytes)
        case (.rejected, .askFromStart(let why)), (.rejected, .accept(_, _, _, .restarted(let why))):
            return .refused(why)
        case (.rejected, .fail(let failure)): return .failed(ConnectionLoss(failure, result, hasTarget: false, at: now))
        case (.failed(let error), _):
            return .failed(ConnectionLoss(Failure(error, url: url), result, hasTarget: false, at: now))
        case (.cancelled, _): return nil
        default: return .refused(.badRange)
        }
    }

    func received(head: ResponseHead) -> HeadDecision {
        let facts = ResponseFacts(status: head.status, headers: head.headers, isOfProxy: head.isOfProxy)
        _ = start.receive(facts, head.headers, of: attempt)
        let verdict = ResponseDecision.judge(facts, asked: asked, presentBytes: asked.presentBytes, access)
        state.withLock { $0.verdict = verdict }
        if case .accept(asked.offset, 0, _, .resumed) = verdict { return .accept }
        return .reject
    }

    func received(chunk: Chunk) {
        attempt.control.recordArrival(of: chunk.count)
        chunk.withUnsafeBytes { bytes in
            state.withLock { state in
                // A body may be longer than its head says. One byte more is enough to refuse it.
                state.bytes += bytes.prefix(max(0, Int(asked.end ?? 0) - Int(asked.offset) + 1 - state.bytes.count))
            }
        }
    }

    func finished(_ result: TransferResult) {
        let waiter = state.withLock { state in
            state.result = result
            return state.waiter.take()
        }
        waiter?.resume()
    }
}
