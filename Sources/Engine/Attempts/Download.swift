import CurlClient
import Downloads
import Foundation
import Locks

/// One exchange of an attempt: judges the head, then moves the body into a part file.
///
/// The head and the chunks come on the transfer loop, which must not block: everything that touches the disk is done in
/// the part's lane, in the same order. Chunks that the lane has not written yet fill the transfer's window, so a slow
/// disk slows down the server, not the loop.
final class Download: TransferHandler {
    /// A response that brings bytes.
    struct Acceptance: Sendable {
        var part: PartFile
        /// Bytes that the part had when the response began.
        var offset: Int64
        var size: Int64?
        var outcome: ResumeOutcome
        var validators: Validators
        var label: FileLabel
    }

    struct End: Sendable {
        var result: TransferResult
        var verdict: ResponseVerdict?
        var acceptance: Acceptance?
        /// What the disk, or a limit of the job, ended it with.
        var failure: Failure?
    }

    /// What surrounds the exchange.
    struct Context: Sendable {
        var asked: RequestedRange
        /// What was said of the bytes that are continued.
        var label: FileLabel
        var bytesHad: Int64
        var spec: ResolvedSpec
        var lane: DiskLane
        /// The part that goes on at an offset; called on the transfer loop, so it must not touch the disk.
        var part: @Sendable (_ offset: Int64, _ label: FileLabel) -> PartFile
        var onAccept: @Sendable (Acceptance) -> Void
        var onBytes: @Sendable (Int) -> Void
    }

    private struct State {
        var verdict: ResponseVerdict?
        var acceptance: Acceptance?
        /// Bytes of the body that are dropped, because the part has them already.
        var skipping: Int64 = 0
        var failure: Failure?
        var transfer: Transfer?
        var waiter: CheckedContinuation<End, Never>?
    }

    private let context: Context
    private let state = Locked(State())

    init(_ context: Context) { self.context = context }

    /// Returns when the exchange is over and everything it brought is written.
    func run(_ request: TransferRequest, on client: CurlClient, _ control: AttemptControl) async -> End {
        await withCheckedContinuation { waiter in
            state.withLock { $0.waiter = waiter }
            let transfer = client.start(request, handler: self)
            control.watch(transfer)
            let hasFailed = state.withLock { state in
                state.transfer = transfer
                return state.failure != nil
            }
            if hasFailed { transfer.cancel() }
        }
    }

    // MARK: On the transfer loop

    func received(head: ResponseHead) -> HeadVerdict {
        let facts = ResponseFacts(status: head.status, headers: head.headers)
        let verdict = limited(.judge(facts, asked: context.asked, bytesHad: context.bytesHad))
        guard case .accept(let offset, let skipping, let size, let outcome) = verdict else {
            state.withLock { $0.verdict = verdict }
            return .reject
        }
        let acceptance = self.acceptance(of: facts, at: offset, size: size, outcome)
        state.withLock { state in
            state.verdict = verdict
            state.acceptance = acceptance
            state.skipping = skipping
        }
        context.lane.async { self.prepare(acceptance) }
        context.onAccept(acceptance)
        return .accept
    }

    func received(chunk: Chunk) {
        context.lane.async { self.write(chunk) }
    }

    func finished(_ result: TransferResult) {
        context.lane.async { self.end(result) }
    }

    /// What goes on is what the part's own validators stand for: the rest of a file need not repeat all of them.
    private func acceptance(
        of facts: ResponseFacts, at offset: Int64, size: Int64?, _ outcome: ResumeOutcome
    ) -> Acceptance {
        let isResumed = if case .resumed = outcome { true } else { false }
        let (now, asked) = (facts.validators, context.asked)
        let label =
            isResumed ? facts.label.completed(by: asked.label(context.label, continuedBy: now)) : facts.label
        return Acceptance(
            part: context.part(offset, label), offset: offset, size: size, outcome: outcome,
            validators: isResumed ? asked.validators(continuedBy: now) : now, label: label)
    }

    /// A size that the job does not want is refused before a byte of it is written.
    private func limited(_ verdict: ResponseVerdict) -> ResponseVerdict {
        guard case .accept(_, _, let size?, _) = verdict else { return verdict }
        return context.spec.refusal(ofSize: size).map(ResponseVerdict.fail) ?? verdict
    }

    // MARK: In the lane

    private func prepare(_ acceptance: Acceptance) {
        do throws(DiskError) {
            try acceptance.part.open()
            if let size = acceptance.size { try acceptance.part.preallocate(size) }
        } catch {
            fail(error.failure)
        }
    }

    private func write(_ chunk: Chunk) {
        let (part, skipped): (PartFile?, Int64) = state.withLock { state in
            guard state.failure == nil else { return (nil, 0) }
            let skipped = min(state.skipping, Int64(chunk.count))
            state.skipping -= skipped
            return (state.acceptance?.part, skipped)
        }
        guard let part else { return }
        let count = chunk.count - Int(skipped)
        if let limit = context.spec.maxSize, part.written + Int64(count) > limit { return fail(.tooLarge(limit)) }
        do throws(DiskError) {
            try chunk.withUnsafeBytes { bytes throws(DiskError) in
                try part.append(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(Int(skipped))))
            }
            context.onBytes(count)
        } catch {
            fail(error.failure)
        }
    }

    private func fail(_ failure: Failure) {
        let transfer: Transfer? = state.withLock { state in
            state.failure = state.failure ?? failure
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
                    result: result, verdict: state.verdict, acceptance: state.acceptance, failure: state.failure)
            )
        }
        waiter?.resume(returning: end)
    }
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

extension Failure {
    fileprivate static func tooLarge(_ limit: Int64) -> Failure {
        Failure(.tooLarge, "The file is larger than the job's max_size of \(limit) bytes.")
    }
}
