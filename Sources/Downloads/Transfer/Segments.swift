import Foundation

/// Which connection fetches which of a file's missing bytes: a value that decides, and does nothing.
///
/// Everything missing is either in somebody's segment or unleased. Who is idle takes what is unleased, else half of the
/// largest segment. A segment that was cut ends there only when a response brings the other half: until then, and again when
/// that half is given up, it goes on into it, as far as its own response goes. A server that only plays with one connection
/// loses nothing by having been asked for more.
public struct Segments: Sendable, Equatable {
    private struct Segment: Sendable, Equatable {
        /// The next byte to come.
        var position: Int64
        /// Where it ends; others have what follows.
        var end: Int64
        /// Where the response ends that brings it.
        var reach: Int64
        /// A response brings it.
        var isAnswered = false
        /// The uptime when bytes came last.
        var movedAt: Duration

        var remaining: Int64 { end - position }
    }

    private var unleased: ByteRanges
    private var segments: [SegmentLease: Segment] = [:]
    private var leases = 0

    /// Bytes: what would be less is not worth a request of its own.
    public static let smallestSegment: Int64 = 256 << 10

    /// - Parameter missing: of a file whose size is not known, everything up to `Int64.max`; it is never divided.
    public init(missing: some Sequence<Range<Int64>>) { unleased = ByteRanges(missing) }

    /// Nothing is missing.
    public var isComplete: Bool { segments.isEmpty && unleased.isEmpty }

    /// The bytes a lease stands for: those that are still to come.
    public func range(of lease: SegmentLease) -> Range<Int64>? { segments[lease].map { $0.position..<$0.end } }

    // MARK: Taking

    /// For the first response of all: the first gap, or nothing where nothing is missing.
    public mutating func firstLease(at now: Duration) -> SegmentLease { lease(at: now) ?? assign(0..<0, at: now) }

    /// Whether `lease` would give something.
    public var isLeasable: Bool { !unleased.isEmpty || largest != nil }

    /// The first bytes that nobody fetches, else half of the largest segment; nil when nothing is left that is worth it.
    public mutating func lease(at now: Duration) -> SegmentLease? {
        if let gap = unleased.ranges.first {
            unleased.remove(contentsOf: gap)
            return assign(gap, at: now)
        }
        guard let largest, let segment = segments[largest] else { return nil }
        let middle = segment.position + (segment.end - segment.position + 1) / 2
        segments[largest]?.end = middle
        return assign(middle..<segment.end, at: now)
    }

    /// Whether `takeOver` would give something.
    public func isAnyStalled(since moment: Duration) -> Bool { stalled(since: moment) != nil }

    /// All that is left of a segment that has not moved since then.
    ///
    /// - Returns: also whose it was: that connection has nothing to bring any more.
    public mutating func takeOver(stalledSince moment: Duration, at now: Duration) -> (
        lease: SegmentLease, from: SegmentLease
    )? {
        guard let owner = stalled(since: moment), let segment = segments.removeValue(forKey: owner) else { return nil }
        return (assign(segment.position..<segment.end, at: now), owner)
    }

    private func stalled(since moment: Duration) -> SegmentLease? {
        segments.filter { $0.value.movedAt <= moment && $0.value.remaining > 0 && $0.value.end < .max }
            .min { ($0.value.movedAt, $0.key.number) < ($1.value.movedAt, $1.key.number) }?.key
    }

    private var largest: SegmentLease? {
        let candidate = segments.max { first, second in
            (first.value.remaining, second.key.number) < (second.value.remaining, first.key.number)
        }
        guard let candidate, candidate.value.end < .max, candidate.value.remaining >= 2 * Self.smallestSegment else {
            return nil
        }
        return candidate.key
    }

    private mutating func assign(_ range: Range<Int64>, at now: Duration) -> SegmentLease {
        leases += 1
        let lease = SegmentLease(number: leases)
        segments[lease] = Segment(
            position: range.lowerBound, end: range.upperBound, reach: range.upperBound, movedAt: now)
        return lease
    }

    // MARK: Bringing

    /// A response was accepted that fills a segment.
    ///
    /// - Parameters:
    ///   - offset: the first byte it is to bring.
    ///   - reach: where it ends, which may be before or behind what was asked for; nil: as asked.
    /// - Returns: how many of its first bytes have come from elsewhere meanwhile; nil: all that were wanted.
    public mutating func answer(_ lease: SegmentLease, from offset: Int64, reach: Int64?) -> Int64? {
        guard let position = segments[lease]?.position else { return nil }
        segments[lease]?.isAnswered = true
        if let reach { segments[lease]?.reach = reach }
        return position - offset
    }

    /// What is to be done with bytes that a connection brings.
    public struct Advance: Sendable, Equatable {
        /// Where they go.
        public var offset: Int64
        /// How many of them are wanted.
        public var count: Int
        /// The segment is full, and what its response has left is somebody else's.
        public var isCut: Bool
        /// There were more than the response had announced: none of them is to be trusted.
        public var isExcess: Bool

        public init(offset: Int64, count: Int, isCut: Bool, isExcess: Bool) {
            (self.offset, self.count, self.isCut, self.isExcess) = (offset, count, isCut, isExcess)
        }
    }

    /// - Parameter count: bytes that came.
    /// - Returns: nil when the segment was taken over by another connection.
    public mutating func advance(_ lease: SegmentLease, by count: Int, at now: Duration) -> Advance? {
        guard var segment = segments[lease] else { return nil }
        // One byte more than came, so that the segment is not full where it can go on.
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
        segments[lease] = segment
        return advance
    }

    /// What follows a segment and nobody brings, as far as its response goes.
    ///
    /// - Returns: where the segment ends with it; nil: where it did.
    private mutating func regained(_ segment: Segment, upTo wish: Int64) -> Int64? {
        guard segment.reach > segment.end else { return nil }
        if let next = unleased.ranges.first(where: { $0.lowerBound == segment.end }) {
            let end = Swift.min(next.upperBound, segment.reach)
            unleased.remove(contentsOf: segment.end..<end)
            return end
        }
        guard let (lease, next) = segments.first(where: { $0.value.position == segment.end && !$0.value.isAnswered })
        else {
            return nil
        }
        let end = Swift.min(next.end, segment.reach, wish)
        segments[lease]?.position = end
        if end == next.end { segments[lease] = nil }
        return end > segment.end ? end : nil
    }

    /// The connection has ended; what it has not brought is for others.
    public mutating func release(_ lease: SegmentLease) {
        guard let segment = segments.removeValue(forKey: lease), segment.position < segment.end else { return }
        unleased.insert(contentsOf: segment.position..<segment.end)
    }

    /// The body has ended as it should: of a file whose size was not known, this is the end.
    public mutating func close(_ lease: SegmentLease) {
        if let segment = segments[lease], segment.end == .max { segments[lease] = nil } else { release(lease) }
    }
}
