import CurlClient
import Downloads
import Foundation
import HTTPSemantics
import Locks
import Storage

/// A file that an attempt downloads, from one response or from several: the bytes it has, the bytes it lacks, and the
/// connections that have leases on them. It begins with the first response that is accepted.
final class SegmentedFile: Sendable {
    let part: PartFile
    /// The URL that the first response came from, after redirects.
    let url: String
    /// Bytes of the whole file; nil when the server did not state them.
    let size: Int64?
    /// Every further response must match these, unless a checksum verifies the whole file.
    let validators: Validators
    let label: FileLabel
    /// How the attempt began the file.
    let outcome: ResumeOutcome
    /// Bytes that the part had when the attempt began.
    let bytesHad: Int64
    /// Whether the first response showed that several connections can fetch it: it served a range of a known size under a
    /// strong validator.
    let isDivisible: Bool

    private struct State {
        var segments: Segments
        /// The transfers that fill segments.
        var transfers: [SegmentLease: Transfer] = [:]
        var isAbandoned = false
        var isUnsound = false
        var isShared = false
        /// All bytes came with the same strong validator.
        var isOfOneVersion = true
    }

    /// The lease of the first response: the first bytes that are missing, or no bytes where none are.
    let firstLease: SegmentLease
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
        firstLease = segments.firstLease(at: time.uptime)
        state = Locked(State(segments: segments))
    }

    /// Whether every byte is written. A segment counts its bytes before they are written, so the part decides.
    var isComplete: Bool {
        let isAllThere = state.withLock { $0.segments.isComplete && !$0.isAbandoned }
        let written = part.written
        return isAllThere && written.isPrefix && size.map { $0 == written.end } ?? true
    }
    /// Whether nothing is left to fetch, or the file was abandoned.
    var isOver: Bool { state.withLock { $0.segments.isComplete || $0.isAbandoned } }

    /// Whether a connection could get a lease.
    ///
    /// - Parameter moment: an uptime. A segment that got no byte since then can be taken over; nil: none can.
    func isLeasable(orStalledSince moment: Duration? = nil) -> Bool {
        state.withLock { state in
            !state.isAbandoned && (state.segments.isLeasable || moment.map(state.segments.isAnyStalled) ?? false)
        }
    }

    /// Notes the validators of a further response.
    func join(_ others: Validators) {
        guard validators.strong == nil || others.strong != validators.strong else { return }
        state.withLock { $0.isOfOneVersion = false }
    }

    /// The validators and label to store with the promised bytes. They are without strong validators and digests when bytes
    /// came with different validators: then only the job's checksum can verify the file.
    var promise: (validators: Validators, label: FileLabel) {
        guard !state.withLock({ $0.isOfOneVersion }) else { return (validators, label) }
        var label = label
        label.digests = []
        return (validators.withoutStrength, label)
    }

    /// Whether more than one response was requested for the file.
    var isShared: Bool { state.withLock { $0.isShared } }

    // MARK: Leases

    /// Leases a segment to a connection.
    ///
    /// - Returns: nil when nothing is left that is worth a connection.
    func lease() -> SegmentLease? {
        let now = time.uptime
        return state.withLock { state in
            guard !state.isAbandoned, let lease = state.segments.lease(at: now) else { return nil }
            state.isShared = true
            return lease
        }
    }

    /// Takes a segment over from a connection that is silent, and cancels its transfer.
    ///
    /// - Parameter moment: an uptime since when the segment got no byte.
    /// - Returns: nil when no connection has been silent for so long.
    func takeOver(stalledSince moment: Duration) -> SegmentLease? {
        let now = time.uptime
        let (lease, transfer): (SegmentLease?, Transfer?) = state.withLock { state in
            guard !state.isAbandoned, let taken = state.segments.takeOver(stalledSince: moment, at: now) else {
                return (nil, nil)
            }
            state.isShared = true
            return (taken.lease, state.transfers.removeValue(forKey: taken.from))
        }
        transfer?.cancel()
        return lease
    }

    /// The bytes that a segment lacks; nil when another connection has taken it over.
    func range(of lease: SegmentLease) -> Range<Int64>? { state.withLock { $0.segments.range(of: lease) } }

    /// The request that fills a segment; nil when another connection has taken it over.
    func asked(for lease: SegmentLease) -> RequestedRange? {
        guard let range = range(of: lease) else { return nil }
        var asked = RequestedRange(offset: range.lowerBound, validators: validators, size: size)
        asked.end = range.upperBound
        asked.bytesHad = max(1, part.written.count)
        return asked
    }

    /// Notes that a response was accepted that fills a segment: see `Segments.answer`.
    func answer(_ lease: SegmentLease, from offset: Int64, reach: Int64?) -> Int64? {
        state.withLock { $0.segments.answer(lease, from: offset, reach: reach) }
    }

    /// From now on this transfer fills the segment.
    func attach(_ transfer: Transfer, to lease: SegmentLease) {
        let isWanted = state.withLock { state in
            state.transfers[lease] = transfer
            return !state.isAbandoned
        }
        if !isWanted { transfer.cancel() }
    }

    /// Counts bytes that came for a segment.
    ///
    /// - Returns: where they go; nil when another connection has taken the segment over.
    func advance(_ lease: SegmentLease, by count: Int) -> Segments.Advance? {
        let now = time.uptime
        return state.withLock { $0.segments.advance(lease, by: count, at: now) }
    }

    /// Ends a lease: the connection has ended.
    ///
    /// - Parameter isBodyWhole: the response came to its regular end.
    func leave(_ lease: SegmentLease, isBodyWhole: Bool) {
        state.withLock { state in
            state.transfers[lease] = nil
            if isBodyWhole { state.segments.close(lease) } else { state.segments.release(lease) }
        }
    }

    /// Whether some of the bytes are wrong and it is unknown which: then none may be kept.
    var isUnsound: Bool { state.withLock { $0.isUnsound } }

    /// Notes that bytes came under a wrong response head, and ends all connections to the file.
    func disbelieve() {
        state.withLock { $0.isUnsound = true }
        abandon()
    }

    /// Ends all connections to the file: none of them could complete it.
    func abandon() {
        let transfers = state.withLock { state in
            state.isAbandoned = true
            return Array(state.transfers.values)
        }
        for transfer in transfers { transfer.cancel() }
    }
}

extension ResumeOutcome {
    var isResumed: Bool { if case .resumed = self { true } else { false } }
}
