import Foundation

/// Which connection fetches which of a file's missing bytes, as a value: it decides, and connections act.
///
/// Each missing byte is either in a segment, on which a connection has a lease, or unleased. An idle connection gets
/// unleased bytes, or else half of the largest segment. A segment that was cut ends at the cut once a response brings the
/// other half. Until then, and after that half is released, the segment grows back into it, as far as its own response
/// reaches. So a server that serves one connection only loses nothing by the requests of further ones.
public struct Segments: Sendable, Equatable {
    private struct Segment: Sendable, Equatable {
        /// The next byte to come.
        var position: Int64
        /// The end of the segment. What follows is in other segments, unleased, or there.
        var end: Int64
        /// The end of the response that fills the segment.
        var reach: Int64
        /// A response that fills the segment was accepted.
        var isAnswered = false
        /// The uptime when bytes came last.
        var movedAt: Duration

        var remaining: Int64 { end - position }
    }

    private var unleased: ByteRanges
    private var segments: [SegmentLease: Segment] = [:]
    private var leases = 0

    /// Bytes of the smallest segment that is cut off another one: less is not worth a request.
    public static let smallestSegment: Int64 = 256 << 10

    /// - Parameter missing: the bytes that the file lacks. For a file of unknown size this goes up to `Int64.max`, and the
    ///   file is never divided.
    public init(missing: some Sequence<Range<Int64>>) { unleased = ByteRanges(missing) }

    /// Whether no byte is missing.
    public var isComplete: Bool { segments.isEmpty && unleased.isEmpty }

    /// The bytes that a segment still lacks; nil when the lease has ended.
    public func range(of lease: SegmentLease) -> Range<Int64>? { segments[lease].map { $0.position..<$0.end } }

    // MARK: Taking

    /// The lease of the first response: on the first gap, or on no bytes where none are missing.
    public mutating func firstLease(at now: Duration) -> SegmentLease { lease(at: now) ?? assign(0..<0, at: now) }

    /// Whether `lease(at:)` would return a lease.
    public var isLeasable: Bool { !unleased.isEmpty || largest != nil }

    /// Leases the first unleased bytes, else half of the largest segment.
    ///
    /// - Parameter now: the uptime.
    /// - Returns: nil when nothing is left that is worth a request.
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

    /// Whether `takeOver` would return a lease.
    public func isAnyStalled(since moment: Duration) -> Bool { stalled(since: moment) != nil }

    /// Ends the lease of the connection that has been silent longest, and leases what its segment lacks.
    ///
    /// - Parameters:
    ///   - moment: an uptime since when the segment got no byte.
    ///   - now: the uptime.
    /// - Returns: the new lease and the ended one; nil when no connection has been silent for so long.
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

    // MARK: Filling

    /// Notes that a response was accepted that fills a segment.
    ///
    /// - Parameters:
    ///   - offset: of the first byte of the response.
    ///   - reach: the end of the response, which may lie before or after the end of the request; nil: the end of the request.
    /// - Returns: how many of its first bytes another response has brought meanwhile; nil when the lease has ended.
    public mutating func answer(_ lease: SegmentLease, from offset: Int64, reach: Int64?) -> Int64? {
        guard let position = segments[lease]?.position else { return nil }
        segments[lease]?.isAnswered = true
        if let reach { segments[lease]?.reach = reach }
        return position - offset
    }

    /// What a connection does with bytes that have come.
    public struct Advance: Sendable, Equatable {
        /// Where the bytes go.
        public var offset: Int64
        /// How many of the bytes are wanted.
        public var count: Int
        /// The segment is full, and another connection fetches the rest of its response.
        public var isCut: Bool
        /// The response brought more bytes than it had announced: none of them can be trusted.
        public var isExcess: Bool

        public init(offset: Int64, count: Int, isCut: Bool, isExcess: Bool) {
            (self.offset, self.count, self.isCut, self.isExcess) = (offset, count, isCut, isExcess)
        }
    }

    /// Counts bytes that came for a segment.
    ///
    /// - Returns: nil when another connection has taken the segment over.
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

    /// Takes the bytes after a segment that no response brings, as far as the segment's own response reaches.
    ///
    /// - Returns: the new end of the segment; nil when it does not change.
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

    /// Ends a lease: the bytes that the connection has not brought are unleased.
    public mutating func release(_ lease: SegmentLease) {
        guard let segment = segments.removeValue(forKey: lease), segment.position < segment.end else { return }
        unleased.insert(contentsOf: segment.position..<segment.end)
    }

    /// Ends a lease after the regular end of the body, which is the end of a file of unknown size.
    public mutating func close(_ lease: SegmentLease) {
        if let segment = segments[lease], segment.end == .max { segments[lease] = nil } else { release(lease) }
    }
}
