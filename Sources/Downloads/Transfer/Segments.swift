import Foundation

/// Decides which connection fetches which missing bytes of a file. This is a value: it decides, and the connections act.
///
/// A connection claims a segment of missing bytes. An idle connection gets unclaimed bytes or, if there are none, the second
/// half of the largest segment. The response for the first half often includes the second half, too: the first connection
/// continues into it until a response for the second half is accepted, and again after its claim is released. So an
/// additional connection does no harm if the server serves only one.
public struct Segments: Sendable, Equatable {
    private struct Segment: Sendable, Equatable {
        /// The position of the next byte to receive.
        var position: Int64
        /// The end of the segment. The bytes after it are in other segments, unclaimed, or received.
        var end: Int64
        /// The end of the response that fills the segment.
        var reach: Int64
        /// A response that fills the segment was accepted.
        var isAnswered = false
        /// Whether another connection may take a part of the segment.
        var isDivisible = true
        /// The uptime when the last bytes were received.
        var movedAt: Duration

        var remaining: Int64 { end - position }
    }

    private var unclaimed: ByteRanges
    /// The largest number of unclaimed bytes that one claim takes.
    private let piece: Int64
    private var segments: [SegmentClaim: Segment] = [:]
    private var claims = 0

    /// In bytes. No smaller segment is cut off another one, because it would not be worth a request.
    public static let smallestSegment: Int64 = 256 << 10

    /// - Parameter missing: the bytes that the file lacks. For a file of unknown size, these go up to `Int64.max`, and
    ///   the file is never divided.
    /// - Parameter piece: the largest claim in bytes, so that several connections stay near the beginning of the missing bytes.
    public init(missing: some Sequence<Range<Int64>>, inPiecesOf piece: Int64 = .max) {
        unclaimed = ByteRanges(missing)
        self.piece = piece
    }

    public var isComplete: Bool { segments.isEmpty && unclaimed.isEmpty }

    /// The bytes that a segment still lacks; nil when the claim has ended.
    public func range(of claim: SegmentClaim) -> Range<Int64>? { segments[claim].map { $0.position..<$0.end } }

    // MARK: Taking

    /// The claim of the first response: on the first gap, or on an empty range if no byte is missing.
    public mutating func firstClaim(at now: Duration) -> SegmentClaim {
        let gap = unclaimed.ranges.first
        let first = claim(at: now) ?? assign(0..<0, at: now)
        // Its request asks for the whole gap, also if the claim is a piece.
        if let gap { segments[first]?.reach = gap.upperBound }
        return first
    }

    /// Whether `claim(at:)` would return a claim.
    public var isClaimable: Bool { !unclaimed.isEmpty || largest != nil }

    /// Whether bytes before this position are missing that no connection fetches.
    public func isAnyUnclaimed(before position: Int64) -> Bool {
        unclaimed.ranges.first.map { $0.lowerBound < position } ?? false
    }

    /// Claims the first unclaimed bytes, otherwise half of the largest segment.
    ///
    /// - Returns: nil if no bytes are left that are worth a request.
    public mutating func claim(at now: Duration) -> SegmentClaim? {
        if var gap = unclaimed.ranges.first {
            if Int64(gap.count) > piece { gap = gap.lowerBound..<gap.lowerBound + piece }
            unclaimed.remove(contentsOf: gap)
            return assign(gap, at: now)
        }
        guard let largest, let segment = segments[largest] else { return nil }
        let middle = segment.position + (segment.end - segment.position + 1) / 2
        segments[largest]?.end = middle
        return assign(middle..<segment.end, at: now)
    }

    /// Whether `takeOver` would return a claim.
    public func isAnyStalled(since moment: Duration) -> Bool { stalled(since: moment) != nil }

    /// Ends the claim of the connection that has been silent longest, and claims the missing bytes of its segment.
    ///
    /// - Parameter moment: an uptime since which the segment has received no byte.
    /// - Returns: the new claim and the ended one; nil if no connection has been silent for so long.
    public mutating func takeOver(stalledSince moment: Duration, at now: Duration) -> (
        claim: SegmentClaim, from: SegmentClaim
    )? {
        guard let owner = stalled(since: moment), let segment = segments.removeValue(forKey: owner) else { return nil }
        return (assign(segment.position..<segment.end, at: now), owner)
    }

    private func stalled(since moment: Duration) -> SegmentClaim? {
        segments.filter { $0.value.movedAt <= moment && $0.value.remaining > 0 && $0.value.end < .max }
            .min { ($0.value.movedAt, $0.key.number) < ($1.value.movedAt, $1.key.number) }?.key
    }

    private var largest: SegmentClaim? {
        let candidate = segments.filter(\.value.isDivisible).max { first, second in
            (first.value.remaining, second.key.number) < (second.value.remaining, first.key.number)
        }
        guard let candidate, candidate.value.end < .max, candidate.value.remaining >= 2 * Self.smallestSegment else {
            return nil
        }
        return candidate.key
    }

    private mutating func assign(_ range: Range<Int64>, at now: Duration) -> SegmentClaim {
        claims += 1
        let claim = SegmentClaim(number: claims)
        segments[claim] = Segment(
            position: range.lowerBound, end: range.upperBound, reach: range.upperBound, movedAt: now)
        return claim
    }

    // MARK: Filling

    /// Notes that a response was accepted that fills a segment.
    ///
    /// - Parameters:
    ///   - offset: the position of the response's first byte.
    ///   - reach: the end of the response, which may be before or after the end of the request; nil: the end of the
    ///     request.
    ///   - isMeasured: whether the response states the length of its body. Many servers send the whole file with the head
    ///     of a partial response. Without a length, only a body that is longer than its range shows this. So such a body
    ///     must be read to its end, and its segment is not divided, unless it begins with the file.
    /// - Returns: how many of the first bytes another response has already brought; nil if the claim has ended, or if
    ///   the segment was divided and its response must be read to its end.
    public mutating func answer(_ claim: SegmentClaim, from offset: Int64, reach: Int64?, isMeasured: Bool) -> Int64? {
        guard var segment = segments[claim] else { return nil }
        segment.isAnswered = true
        segment.isDivisible = isMeasured || offset == 0
        segment.reach = reach ?? segment.reach
        guard segment.isDivisible || segment.reach <= segment.end else { return nil }
        segments[claim] = segment
        return segment.position - offset
    }

    /// What a connection does with received bytes.
    public struct Advance: Sendable, Equatable {
        /// The position at which the bytes are written.
        public var offset: Int64
        /// How many of the bytes are written.
        public var count: Int
        /// The segment is full, and another connection fetches the rest of its response.
        public var isCut: Bool
        /// The response brought more bytes than it had announced, so none of them can be trusted.
        public var isExcess: Bool
    }

    /// Counts bytes that were received for a segment.
    ///
    /// - Returns: nil when another connection has taken the segment over.
    public mutating func advance(_ claim: SegmentClaim, by count: Int, at now: Duration) -> Advance? {
        guard var segment = segments[claim] else { return nil }
        // One byte more than was received, so that the segment is not full as long as it can grow.
        let wish = segment.position + Int64(count) + 1
        while segment.end < wish, let end = regained(segment, upTo: wish) { segment.end = end }
        let wanted = Swift.min(Int64(count), segment.remaining)
        if wanted < count, segment.end >= segment.reach {
            return Advance(offset: segment.position, count: 0, isCut: false, isExcess: true)
        }
        let advance = Advance(
            offset: segment.position, count: Int(wanted),
            isCut: segment.remaining == wanted && segment.end < segment.reach,
            isExcess: false)
        segment.position += wanted
        segment.movedAt = now
        segments[claim] = segment
        return advance
    }

    /// Extends a segment into the following bytes that no response brings, as far as the segment's own response reaches.
    ///
    /// - Returns: the new end of the segment; nil when it does not change.
    private mutating func regained(_ segment: Segment, upTo wish: Int64) -> Int64? {
        guard segment.reach > segment.end else { return nil }
        if let next = unclaimed.ranges.first(where: { $0.lowerBound == segment.end }) {
            let end = Swift.min(segment.end + Swift.min(next.upperBound - segment.end, piece), segment.reach)
            unclaimed.remove(contentsOf: segment.end..<end)
            return end
        }
        let unanswered = segments.first { $0.value.position == segment.end && !$0.value.isAnswered }
        guard let (claim, next) = unanswered else { return nil }
        let end = Swift.min(next.end, segment.reach, wish)
        segments[claim]?.position = end
        if end == next.end { segments[claim] = nil }
        return end > segment.end ? end : nil
    }

    /// Ends a claim. The bytes that the connection has not brought become unclaimed.
    public mutating func release(_ claim: SegmentClaim) {
        guard let segment = segments.removeValue(forKey: claim), segment.position < segment.end else { return }
        unclaimed.insert(contentsOf: segment.position..<segment.end)
    }

    /// Ends a claim after the regular end of the body. For a file of unknown size, this is the end of the file.
    public mutating func close(_ claim: SegmentClaim) {
        if let segment = segments[claim], segment.end == .max { segments[claim] = nil } else { release(claim) }
    }
}

/// The right of one connection to fetch a segment of a file. `Segments` creates the claims. No two claims of a file are equal.
public struct SegmentClaim: Sendable, Hashable {
    let number: Int
}
