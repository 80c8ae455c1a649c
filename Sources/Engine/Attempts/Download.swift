import CurlClient
import Downloads
import HTTPSemantics
import Locks

/// One HTTP exchange of an attempt. It lets the caller judge the head, then writes the body to its segment of the part
/// file.
///
/// The transfer loop delivers the head and the chunks, and must not block. The part's lane does all disk operations, in
/// the same order. Chunks that the lane has not written yet fill the transfer's window, so a slow disk slows down the
/// server and not the loop.
final class Download: TransferHandler {
    /// A class, because each suspended function that waits for an end reserves room for it.
    final class End: Sendable {
        let result: TransferResult
        let verdict: ResponseVerdict?
        /// nil when no response was accepted.
        let target: Target?
        /// The segment is full. fetchd cancelled the rest of the response, or rejected it, because it needs no more
        /// bytes.
        let isSegmentFull: Bool
        /// The disk error, or the exceeded limit of the job, that ended the exchange.
        let failure: Failure?

        init(
            result: TransferResult, verdict: ResponseVerdict?, target: Target?, isSegmentFull: Bool, failure: Failure?
        ) {
            (self.result, self.verdict, self.target) = (result, verdict, target)
            (self.isSegmentFull, self.failure) = (isSegmentFull, failure)
        }
    }

    /// The destination of a body.
    struct Target: Sendable {
        var file: SegmentedFile
        var lease: SegmentLease
    }

    /// Judges a head. Called on the transfer loop, so it must not touch the disk.
    typealias Judge = @Sendable (ResponseFacts) -> ResponseVerdict
    /// Chooses the destination for the body of an accepted response. Called on the transfer loop, so it must not touch
    /// the disk.
    typealias ChooseTarget = @Sendable (ResponseFacts, _ size: Int64?, ResumeOutcome) -> Target

    struct State {
        var verdict: ResponseVerdict?
        var target: Target?
        /// Bytes of the body that are still to be dropped, because the part has them already.
        var skipping: Int64 = 0
        var isSegmentFull = false
        var failure: Failure?
        var transfer: Transfer?
        var waiter: CheckedContinuation<End, Never>?

        var isOver: Bool { failure != nil || isSegmentFull }
    }

    let context: AttemptContext
    let sizeLimit: SizeLimit?
    private let judge: Judge
    private let chooseTarget: ChooseTarget
    let state = Locked(State())

    /// - Parameter sizeLimit: a larger file fails the exchange; nil: no limit.
    init(_ context: AttemptContext, sizeLimit: SizeLimit?, judge: @escaping Judge, target: @escaping ChooseTarget) {
        self.context = context
        self.sizeLimit = sizeLimit
        self.judge = judge
        chooseTarget = target
    }

    /// Returns after the exchange has ended and all of its bytes are written.
    func run(_ request: TransferRequest) async -> End {
        var watch: Int?
        let end = await withCheckedContinuation { waiter in
            state.withLock { $0.waiter = waiter }
            let transfer = context.client.start(request, handler: self)
            watch = context.control.watch(transfer)
            let (isOver, target) = state.withLock { state in
                state.transfer = transfer
                return (state.isOver, state.target)
            }
            if isOver { transfer.cancel() }
            if let target { target.file.attach(transfer, to: target.lease) }
        }
        if let watch { context.control.forget(watch) }
        return end
    }

    // MARK: On the transfer loop

    func received(head: ResponseHead) -> HeadVerdict {
        let facts = ResponseFacts(status: head.status, headers: head.headers, isOfProxy: head.isOfProxy)
        let verdict = judge(facts)
        guard case .accept(let offset, let skipping, let size, let outcome) = verdict else {
            state.withLock { $0.verdict = verdict }
            return .reject
        }
        let target = chooseTarget(facts, size, outcome)
        let brought = target.file.answer(
            target.lease, from: offset, reach: facts.rangeEnd, isMeasured: facts.contentLength != nil)
        let transfer = state.withLock { state in
            state.verdict = verdict
            state.target = target
            state.skipping = skipping + (brought ?? 0)
            state.isSegmentFull = brought == nil
            return state.transfer
        }
        guard brought != nil else { return .reject }
        if let transfer { target.file.attach(transfer, to: target.lease) }
        context.lane.async { self.prepare(target.file) }
        return .accept
    }

    func received(chunk: Chunk) {
        context.progress.noteArrival(of: chunk.count)
        context.lane.async { self.write(chunk) }
    }

    func finished(_ result: TransferResult) {
        context.lane.async { self.end(result) }
    }
}

extension ResponseFacts {
    /// The offset after the last byte of a 206 response's range; nil for every other response.
    fileprivate var rangeEnd: Int64? {
        guard status == 206, case .bytes(_, let last, _)? = contentRange else { return nil }
        return last + 1
    }
}
