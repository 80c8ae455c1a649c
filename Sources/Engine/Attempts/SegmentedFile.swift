import Base
import CurlClient
import Downloads
import Foundation
import HTTPSemantics
import Storage

/// The file that an attempt downloads: the part that its bytes are written to, the bytes that are missing, and the
/// connections that claim them. The first accepted response creates it.
final class SegmentedFile: Sendable {
    let part: PartFile
    /// The URL that the first response came from, after redirects.
    let url: String
    let redirects: [String]
    /// Size of the whole file in bytes; nil when the server did not state it.
    let size: Int64?
    /// Every further response must match these validators, unless a checksum verifies the whole file.
    let validators: Validators
    let label: FileLabel
    /// Decodes the body on its way to the part; nil: the bytes are stored as they come.
    let decoding: BodyDecoding?
    /// How the attempt began the file.
    let outcome: ResumeOutcome
    /// Bytes that the part had when the attempt began.
    let initialBytes: Int64
    /// Whether several connections can fetch the file: the first response served a range of a known size with a strong
    /// validator.
    let isDivisible: Bool
    /// The claim of the first response: the first missing bytes, or an empty range if no bytes are missing.
    let firstClaim: SegmentClaim

    /// The first response, after its end.
    struct FirstResponse: Sendable {
        var head: ResponseHead
        var metrics: TransferMetrics
    }

    /// Whether equal bytes, and no validator, have joined the bytes of several responses.
    enum Evidence: Sendable {
        case none
        /// Those of earlier attempts.
        case found
        /// The first response begins with bytes that are compared.
        case beingCompared
    }

    let evidence: Evidence

    private struct State {
        var segments: Segments
        var transfers: [SegmentClaim: Transfer] = [:]
        /// Of claims whose requests wait for their start.
        var waiting: [SegmentClaim: AsyncAutoResetEvent] = [:]
        var firstResponse: FirstResponse?
        var isAbandoned = false
        var corruption: ResumeOutcome.RestartReason?
        var isShared = false
        /// Whether all bytes came with the same strong validator.
        var isOfOneVersion = true
        /// The bytes that discovered mirrors have sent.
        var origins: [String: ByteRanges] = [:]
    }

    private let state: Locked<State>
    private let time: any TimeSource

    init(
        _ part: PartFile, from requests: RequestSequence, size: Int64?, validators: Validators, label: FileLabel,
        outcome: ResumeOutcome, isRange: Bool, evidence: Evidence = .none, decoding: BodyDecoding? = nil,
        time: any TimeSource
    ) {
        self.evidence = evidence
        self.part = part
        url = requests.url
        redirects = requests.redirects
        self.size = size
        self.validators = validators
        self.label = label
        self.outcome = outcome
        self.decoding = decoding
        self.time = time
        let present = part.written
        initialBytes = present.count
        isDivisible = isRange && size != nil && validators.strong != nil && evidence != .beingCompared
        var segments =
            size.map { Segments(missing: present.gaps(upTo: $0), inPiecesOf: part.staging?.partSize ?? .max) }
            ?? Segments(missing: [present.end..<Int64.max])
        firstClaim = segments.firstClaim(at: time.uptime)
        state = Locked(State(segments: segments))
    }

    /// Whether every byte is written. A segment counts its bytes before they are written, so the part is checked too.
    var isComplete: Bool {
        let isAllThere = state.withLock { $0.segments.isComplete && !$0.isAbandoned }
        let written = part.written
        return isAllThere && written.isPrefix && size.map { $0 == written.end } ?? true
    }

    /// Whether no byte is left to fetch, or the file was abandoned.
    var isOver: Bool { state.withLock { $0.segments.isComplete || $0.isAbandoned } }

    /// Whether more than one response was requested for the file.
    var isShared: Bool { state.withLock { $0.isShared } }

    /// The part with the bytes that are on disk, as a checkpoint stores it.
    var durablePart: Part {
        // The ranges are read first: meanwhile, what is known to be of one version can only become less.
        let ranges = part.durable
        let isOfOneVersion = state.withLock { $0.isOfOneVersion }
        var label = label
        // If the bytes came with different validators, only the job's checksum can verify the file.
        if !isOfOneVersion { label.digests.removeAll { $0.claimant != .checksumFile } }
        var stored = Part(
            id: part.id, url: url, validators: isOfOneVersion ? validators : validators.withoutStrength, label: label,
            size: size, ranges: ranges)
        stored.isJoinedByEvidence = evidence != .none
        return stored
    }

    /// Whether all bytes came with the same strong validator.
    var isProven: Bool { validators.strong != nil && state.withLock { $0.isOfOneVersion } }

    var stated: StatedDigests { StatedDigests(label.digests, validators: validators, size: size) }

    var firstResponse: FirstResponse? { state.withLock { $0.firstResponse } }

    func recordFirstResponse(_ response: FirstResponse) { state.withLock { $0.firstResponse = response } }

    func record(_ count: Int, at offset: Int64, from mirror: String) {
        state.withLock { $0.origins[mirror, default: ByteRanges()].insert(contentsOf: offset..<offset + Int64(count)) }
    }

    /// The discovered mirrors that have sent some of these bytes.
    ///
    /// - Parameter ranges: nil: any bytes.
    func mirrors(of ranges: [Range<Int64>]?) -> [String] {
        let wanted = ranges.map { $0.reduce(into: ByteRanges()) { $0.insert(contentsOf: $1) } }
        let origins = state.withLock { $0.origins }
        return origins.filter { wanted?.intersection($0.value).isEmpty != true }.keys.sorted()
    }

    func recordValidators(_ others: Validators) {
        guard validators.strong == nil || others.strong != validators.strong else { return }
        state.withLock { $0.isOfOneVersion = false }
    }
}

// MARK: - Claims

extension SegmentedFile {
    /// Whether a connection could get a claim.
    ///
    /// - Parameter moment: an uptime. A segment that has received no byte since then can be taken over; nil: none can.
    func isClaimable(orStalledSince moment: Duration? = nil) -> Bool {
        state.withLock { state in
            !state.isAbandoned && (state.segments.isClaimable || moment.map(state.segments.isAnyStalled) ?? false)
        }
    }

    /// - Returns: nil when no remaining segment is worth a connection.
    func claim() -> SegmentClaim? {
        let now = time.uptime
        return state.withLock { state in
            guard !state.isAbandoned, let claim = state.segments.claim(at: now) else { return nil }
            state.isShared = true
            return claim
        }
    }

    /// Takes a segment over from a silent connection, and cancels its transfer.
    ///
    /// - Parameter moment: the uptime since which the segment has received no byte.
    /// - Returns: nil when no connection has been silent since then.
    func takeOver(stalledSince moment: Duration) -> SegmentClaim? {
        let now = time.uptime
        let (claim, transfer): (SegmentClaim?, Transfer?) = state.withLock { state in
            guard !state.isAbandoned, let taken = state.segments.takeOver(stalledSince: moment, at: now) else {
                return (nil, nil)
            }
            state.isShared = true
            return (taken.claim, state.transfers.removeValue(forKey: taken.from))
        }
        transfer?.cancel()
        return claim
    }

    /// The bytes that a segment lacks; nil when another connection has taken it over.
    func range(of claim: SegmentClaim) -> Range<Int64>? { state.withLock { $0.segments.range(of: claim) } }

    /// The request that fills a segment; nil when another connection has taken it over.
    func asked(for claim: SegmentClaim) -> RequestedRange? {
        guard let range = range(of: claim) else { return nil }
        var asked = RequestedRange(offset: range.lowerBound, validators: validators, size: size)
        asked.end = range.upperBound
        asked.presentBytes = max(1, part.written.count)
        return asked
    }

    /// Records an accepted response that fills a segment: see `Segments.answer`.
    func recordResponse(_ claim: SegmentClaim, from offset: Int64, reach: Int64?, isMeasured: Bool) -> Int64? {
        state.withLock { $0.segments.answer(claim, from: offset, reach: reach, isMeasured: isMeasured) }
    }

    /// Whether bytes before this position are missing that no connection fetches.
    func isAnyUnclaimed(before position: Int64) -> Bool {
        state.withLock { $0.segments.isAnyUnclaimed(before: position) }
    }

    /// Registers the transfer that fills the segment. Cancels it if the file was abandoned.
    func attach(_ transfer: Transfer, to claim: SegmentClaim) {
        let isWanted = state.withLock { state in
            state.transfers[claim] = transfer
            return !state.isAbandoned
        }
        if !isWanted { transfer.cancel() }
    }

    /// Counts bytes that arrived for a segment.
    ///
    /// - Returns: the place of these bytes in the file; nil when another connection has taken the segment over.
    func advance(_ claim: SegmentClaim, by count: Int) -> Segments.Advance? {
        let now = time.uptime
        return state.withLock { state in
            let advance = state.segments.advance(claim, by: count, at: now)
            for (claim, bell) in state.waiting where state.segments.range(of: claim) == nil { bell.set() }
            return advance
        }
    }

    /// The request for a segment waits for its start. Meanwhile, another response may bring all of its bytes.
    ///
    /// - Parameter bell: set when that happens; nil: the request has started, or ended.
    func setWaiting(_ bell: AsyncAutoResetEvent?, of claim: SegmentClaim) {
        state.withLock { $0.waiting[claim] = bell }
    }

    /// - Parameter isBodyWhole: whether the response reached its regular end.
    func release(_ claim: SegmentClaim, isBodyWhole: Bool) {
        state.withLock { state in
            state.transfers[claim] = nil
            if isBodyWhole { state.segments.close(claim) } else { state.segments.release(claim) }
        }
        part.staging?.reconsider()
    }

    /// Why some bytes are wrong, of which it is unknown which; nil if none are known to be. None may be kept.
    var corruption: ResumeOutcome.RestartReason? { state.withLock { $0.corruption } }

    /// Records that bytes are wrong, and ends all connections to the file.
    func markCorrupt(_ why: ResumeOutcome.RestartReason) {
        state.withLock { $0.corruption = $0.corruption ?? why }
        abandon()
    }

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

/// A file with every byte written (not yet synced), of a size that the job accepts.
struct CompleteFile: Sendable {
    var file: SegmentedFile
    var response: SegmentedFile.FirstResponse
    var size: Int64
    /// Whether the server or the job stated the size.
    var isLengthVerified: Bool
}
