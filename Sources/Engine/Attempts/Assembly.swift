import CurlClient
import Downloads
import Foundation
import HTTPSemantics
import Locks
import Storage

/// A file that is being put together, from one response or from several: what is there, what is missing, and who fetches
/// it. It begins with the first head that was accepted.
final class Assembly: Sendable {
    let part: PartFile
    /// Where the first response came from, behind its redirects.
    let url: String
    /// Bytes of the whole; nil where nobody told.
    let size: Int64?
    /// What every further response must agree with, unless a checksum proves the whole.
    let validators: Validators
    let label: FileLabel
    /// How it began.
    let outcome: ResumeOutcome
    /// Bytes that were there when it began.
    let bytesHad: Int64
    /// Whether the first response showed that several connections can share: it served a range of a known size under a
    /// strong validator.
    let isDivisible: Bool

    private struct State {
        var segments: Segments
        /// The connections that bring something, by their share.
        var transfers: [Segments.Claim: Transfer] = [:]
        var isAbandoned = false
        var isUnsound = false
        var isShared = false
        /// All bytes came under the same strong validator.
        var isOfOneVersion = true
    }

    /// What the first response is for: the first bytes missing, or nothing where nothing is.
    let firstClaim: Segments.Claim
    private let state: Locked<State>
    private let time: any TimeSource

    init(
        _ part: PartFile, from url: String, size: Int64?, validators: Validators, label: FileLabel,
        outcome: ResumeOutcome, isRange: Bool, time: any TimeSource
    ) {
        (self.part, self.url, self.size, self.time) = (part, url, size, time)
        (self.validators, self.label, self.outcome) = (validators, label, outcome)
        let had = part.written
        bytesHad = had.count
        isDivisible = isRange && size != nil && validators.strong != nil
        let missing = size.map(had.gaps(upTo:)) ?? [had.end..<Int64.max]
        var segments = Segments(missing: missing)
        firstClaim = segments.firstClaim(at: time.uptime)
        state = Locked(State(segments: segments))
    }

    /// Every byte is written. A share counts its bytes before they are written, so the part has the last word.
    var isComplete: Bool {
        let isAllThere = state.withLock { $0.segments.isComplete && !$0.isAbandoned }
        let written = part.written
        return isAllThere && written.isPrefix && size.map { $0 == written.end } ?? true
    }
    /// There is nothing left to fetch, or no use in it.
    var isOver: Bool { state.withLock { $0.segments.isComplete || $0.isAbandoned } }

    /// - Parameter moment: a share that has not moved since then counts as well; nil: none does.
    func isClaimable(orStalledSince moment: Duration? = nil) -> Bool {
        state.withLock { state in
            !state.isAbandoned && (state.segments.isClaimable || moment.map(state.segments.isAnyStalled) ?? false)
        }
    }

    /// A further response is accepted.
    func join(_ others: Validators) {
        guard validators.strong == nil || others.strong != validators.strong else { return }
        state.withLock { $0.isOfOneVersion = false }
    }

    /// What can be promised of the bytes: nothing that stands for them all, where only the checksum will tell.
    var promise: (validators: Validators, label: FileLabel) {
        guard !state.withLock({ $0.isOfOneVersion }) else { return (validators, label) }
        var label = label
        label.digests = []
        return (validators.withoutStrength, label)
    }

    /// More than one response was asked for its bytes.
    var isShared: Bool { state.withLock { $0.isShared } }

    // MARK: Shares

    /// nil: nothing is left that is worth a connection.
    func claim() -> Segments.Claim? {
        let now = time.uptime
        return state.withLock { state in
            guard !state.isAbandoned, let claim = state.segments.claim(at: now) else { return nil }
            state.isShared = true
            return claim
        }
    }

    /// What a connection has that brings nothing any more; it is ended.
    func takeOver(stalledSince moment: Duration) -> Segments.Claim? {
        let now = time.uptime
        let (claim, transfer): (Segments.Claim?, Transfer?) = state.withLock { state in
            guard !state.isAbandoned, let taken = state.segments.takeOver(stalledSince: moment, at: now) else {
                return (nil, nil)
            }
            state.isShared = true
            return (taken.claim, state.transfers.removeValue(forKey: taken.from))
        }
        transfer?.cancel()
        return claim
    }

    /// What is still to come of a share.
    func range(of claim: Segments.Claim) -> Range<Int64>? { state.withLock { $0.segments.range(of: claim) } }

    /// What to ask for, to fill a share.
    func asked(for claim: Segments.Claim) -> RequestedRange? {
        guard let range = range(of: claim) else { return nil }
        var asked = RequestedRange(offset: range.lowerBound, validators: validators, size: size)
        asked.end = range.upperBound
        asked.bytesHad = max(1, part.written.count)
        return asked
    }

    /// A response was accepted that fills a share: see `Segments.answer`.
    func answer(_ claim: Segments.Claim, from offset: Int64, reach: Int64?) -> Int64? {
        state.withLock { $0.segments.answer(claim, from: offset, reach: reach) }
    }

    /// From now on this transfer fills that share.
    func attach(_ transfer: Transfer, to claim: Segments.Claim) {
        let isWanted = state.withLock { state in
            state.transfers[claim] = transfer
            return !state.isAbandoned
        }
        if !isWanted { transfer.cancel() }
    }

    /// Where bytes go that came for a share; nil: the share is somebody else's by now.
    func advance(_ claim: Segments.Claim, by count: Int) -> Segments.Advance? {
        let now = time.uptime
        return state.withLock { $0.segments.advance(claim, by: count, at: now) }
    }

    /// The connection has ended.
    ///
    /// - Parameter isBodyWhole: its response has come to its end as it should.
    func leave(_ claim: Segments.Claim, isBodyWhole: Bool) {
        state.withLock { state in
            state.transfers[claim] = nil
            if isBodyWhole { state.segments.close(claim) } else { state.segments.giveUp(claim) }
        }
    }

    /// Bytes have come that are none of the file, and nobody knows which: none of it may be kept.
    var isUnsound: Bool { state.withLock { $0.isUnsound } }

    func disbelieve() {
        state.withLock { $0.isUnsound = true }
        abandon()
    }

    /// Something is wrong that no other connection could make good: all of them end.
    func abandon() {
        let transfers = state.withLock { state in
            state.isAbandoned = true
            return Array(state.transfers.values)
        }
        for transfer in transfers { transfer.cancel() }
    }
}
