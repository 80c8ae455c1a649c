import CurlClient
import Downloads
import HTTPSemantics
import Locks

/// One exchange of an attempt: has the head judged, then moves the body into its share of the part file.
///
/// The head and the chunks come on the transfer loop, which must not block: everything that touches the disk is done in
/// the part's lane, in the same order. Chunks that the lane has not written yet fill the transfer's window, so a slow
/// disk slows down the server, not the loop.
final class Download: TransferHandler {
    struct End: Sendable {
        var result: TransferResult
        var verdict: ResponseVerdict?
        /// nil: no response was accepted.
        var share: Share?
        /// What was to be brought has been brought; nothing more was wanted.
        var isShareFull = false
        /// What the disk, or a limit of the job, ended it with.
        var failure: Failure?
    }

    /// What a body is for.
    struct Share: Sendable {
        var assembly: Assembly
        var claim: Segments.Claim
    }

    /// What surrounds the exchange. The functions are called on the transfer loop, so they must not touch the disk.
    struct Context: Sendable {
        var lane: DiskLane
        /// Bytes; a file of more is given up.
        var maxSize: Int64?
        var judge: @Sendable (ResponseFacts) -> ResponseVerdict
        /// The response is accepted: what its body is for.
        var share: @Sendable (ResponseFacts, _ size: Int64?, ResumeOutcome) -> Share
        var onBytes: @Sendable (Int) -> Void
    }

    private struct State {
        var verdict: ResponseVerdict?
        var share: Share?
        /// Bytes of the body that are dropped, because the part has them already.
        var skipping: Int64 = 0
        var isShareFull = false
        var failure: Failure?
        var transfer: Transfer?
        var waiter: CheckedContinuation<End, Never>?

        var isOver: Bool { failure != nil || isShareFull }
    }

    private let context: Context
    private let state = Locked(State())

    init(_ context: Context) { self.context = context }

    /// Returns when the exchange is over and everything it brought is written.
    func run(_ request: TransferRequest, for attempt: Attempt) async -> End {
        let control = attempt.control
        var watch: Int?
        let end = await withCheckedContinuation { waiter in
            state.withLock { $0.waiter = waiter }
            let transfer = attempt.services.client.start(request, handler: self)
            watch = control.watch(transfer)
            let (isOver, share) = state.withLock { state in
                state.transfer = transfer
                return (state.isOver, state.share)
            }
            if isOver { transfer.cancel() }
            if let share { share.assembly.attach(transfer, to: share.claim) }
        }
        if let watch { control.forget(watch) }
        return end
    }

    // MARK: On the transfer loop

    func received(head: ResponseHead) -> HeadVerdict {
        let facts = ResponseFacts(status: head.status, headers: head.headers)
        let verdict = context.judge(facts)
        guard case .accept(let offset, let skipping, let size, let outcome) = verdict else {
            state.withLock { $0.verdict = verdict }
            return .reject
        }
        let share = context.share(facts, size, outcome)
        let brought = share.assembly.answer(share.claim, from: offset, reach: facts.rangeEnd)
        let transfer = state.withLock { state in
            state.verdict = verdict
            state.share = share
            state.skipping = skipping + (brought ?? 0)
            state.isShareFull = brought == nil
            return state.transfer
        }
        guard brought != nil else { return .reject }
        if let transfer { share.assembly.attach(transfer, to: share.claim) }
        context.lane.async { self.prepare(share.assembly) }
        return .accept
    }

    func received(chunk: Chunk) {
        context.lane.async { self.write(chunk) }
    }

    func finished(_ result: TransferResult) {
        context.lane.async { self.end(result) }
    }

    // MARK: In the lane

    private func prepare(_ assembly: Assembly) {
        do throws(DiskError) {
            try assembly.part.open()
            if let size = assembly.size { try assembly.part.claim(size) }
        } catch {
            fail(error.failure)
        }
    }

    private func write(_ chunk: Chunk) {
        let (share, skipped): (Share?, Int64) = state.withLock { state in
            guard !state.isOver else { return (nil, 0) }
            let skipped = min(state.skipping, Int64(chunk.count))
            state.skipping -= skipped
            return (state.share, skipped)
        }
        guard let share, Int(skipped) < chunk.count else { return }
        let came = chunk.count - Int(skipped)
        guard let advance = share.assembly.advance(share.claim, by: came) else { return fill() }
        if advance.isExcess { return disbelieve(share.assembly) }
        if let limit = context.maxSize, advance.offset + Int64(advance.count) > limit { return fail(.tooLarge(limit)) }
        do throws(DiskError) {
            try chunk.withUnsafeBytes { bytes throws(DiskError) in
                let wanted = bytes.dropFirst(Int(skipped)).prefix(advance.count)
                try share.assembly.part.write(UnsafeRawBufferPointer(rebasing: wanted), at: advance.offset)
            }
            context.onBytes(advance.count)
        } catch {
            return fail(error.failure)
        }
        if advance.isCut { fill() }
    }

    /// A body in chunks, or without any length, can run past the range that its head stated. Then nobody knows which
    /// bytes it brings: many a server sends the whole file under the head of its rest.
    private func disbelieve(_ assembly: Assembly) {
        assembly.disbelieve()
        fail(Failure(.badRange, "The server sent more bytes than its Content-Range announced."))
    }

    private func fail(_ failure: Failure) {
        end { $0.failure = $0.failure ?? failure }
    }

    /// The rest of the body is somebody else's.
    private func fill() {
        end { $0.isShareFull = true }
    }

    private func end(_ mark: (inout State) -> Void) {
        let transfer = state.withLock { state in
            mark(&state)
            return state.transfer
        }
        transfer?.cancel()
    }

    private func end(_ result: TransferResult) {
        let (waiter, end) = state.withLock { state in
            defer { state.waiter = nil }
            return (
                state.waiter,
                End(
                    result: result, verdict: state.verdict, share: state.share, isShareFull: state.isShareFull,
                    failure: state.failure)
            )
        }
        waiter?.resume(returning: end)
    }
}

extension ResponseFacts {
    /// Behind the last byte of the range that a 206 brings.
    fileprivate var rangeEnd: Int64? {
        guard status == 206, case .bytes(_, let last, _)? = contentRange else { return nil }
        return last + 1
    }
}

extension Failure {
    static func tooLarge(_ limit: Int64) -> Failure {
        Failure(.tooLarge, "The file is larger than the job's max_size of \(limit) bytes.")
    }
}
