import Foundation

/// Which connection fetches which of a file's missing bytes: a value that decides, and does nothing.
///
/// Everything missing is either in somebody's share or unclaimed. Who is idle takes what is unclaimed, else half of the
/// largest share. A share that was cut ends there only when a response brings the other half: until then, and again when
/// that half is given up, it goes on into it, as far as its own response goes. A server that only plays with one connection
/// loses nothing by having been asked for more.
public struct Segments: Sendable, Equatable {
    /// Names a share. Never used twice for one file.
    public struct Claim: Sendable, Hashable {
        fileprivate let number: Int
    }

    private struct Share: Sendable, Equatable {
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

    private var unclaimed: ByteRanges
    private var shares: [Claim: Share] = [:]
    private var claims = 0

    /// Bytes: what would be less is not worth a request of its own.
    public static let smallestShare: Int64 = 256 << 10

    /// - Parameter missing: of a file whose size is not known, everything up to `Int64.max`; it is never divided.
    public init(missing: some Sequence<Range<Int64>>) { unclaimed = ByteRanges(missing) }

    /// Nothing is missing.
    public var isComplete: Bool { shares.isEmpty && unclaimed.isEmpty }

    /// The bytes a claim stands for: those that are still to come.
    public func range(of claim: Claim) -> Range<Int64>? { shares[claim].map { $0.position..<$0.end } }

    // MARK: Taking

    /// For the first response of all: the first gap, or nothing where nothing is missing.
    public mutating func firstClaim(at now: Duration) -> Claim { claim(at: now) ?? share(0..<0, at: now) }

    /// Whether `claim` would give something.
    public var isClaimable: Bool { !unclaimed.isEmpty || largest != nil }

    /// The first bytes that nobody fetches, else half of the largest share; nil when nothing is left that is worth it.
    public mutating func claim(at now: Duration) -> Claim? {
        if let gap = unclaimed.ranges.first {
            unclaimed.remove(contentsOf: gap)
            return share(gap, at: now)
        }
        guard let largest, let share = shares[largest] else { return nil }
        let middle = share.position + (share.end - share.position + 1) / 2
        shares[largest]?.end = middle
        return self.share(middle..<share.end, at: now)
    }

    /// Whether `takeOver` would give something.
    public func isAnyStalled(since moment: Duration) -> Bool { stalled(since: moment) != nil }

    /// All that is left of a share that has not moved since then.
    ///
    /// - Returns: also whose it was: that connection has nothing to bring any more.
    public mutating func takeOver(stalledSince moment: Duration, at now: Duration) -> (claim: Claim, from: Claim)? {
        guard let owner = stalled(since: moment), let share = shares.removeValue(forKey: owner) else { return nil }
        return (self.share(share.position..<share.end, at: now), owner)
    }

    private func stalled(since moment: Duration) -> Claim? {
        shares.filter { $0.value.movedAt <= moment && $0.value.remaining > 0 && $0.value.end < .max }
            .min { ($0.value.movedAt, $0.key.number) < ($1.value.movedAt, $1.key.number) }?.key
    }

    private var largest: Claim? {
        let candidate = shares.max { first, second in
            (first.value.remaining, second.key.number) < (second.value.remaining, first.key.number)
        }
        guard let candidate, candidate.value.end < .max, candidate.value.remaining >= 2 * Self.smallestShare else {
            return nil
        }
        return candidate.key
    }

    private mutating func share(_ range: Range<Int64>, at now: Duration) -> Claim {
        claims += 1
        let claim = Claim(number: claims)
        shares[claim] = Share(position: range.lowerBound, end: range.upperBound, reach: range.upperBound, movedAt: now)
        return claim
    }

    // MARK: Bringing

    /// A response was accepted that fills a share.
    ///
    /// - Parameters:
    ///   - offset: the first byte it is to bring.
    ///   - reach: where it ends, which may be before or behind what was asked for; nil: as asked.
    /// - Returns: how many of its first bytes have come from elsewhere meanwhile; nil: all that were wanted.
    public mutating func answer(_ claim: Claim, from offset: Int64, reach: Int64?) -> Int64? {
        guard let position = shares[claim]?.position else { return nil }
        shares[claim]?.isAnswered = true
        if let reach { shares[claim]?.reach = reach }
        return position - offset
    }

    /// What is to be done with bytes that a connection brings.
    public struct Advance: Sendable, Equatable {
        /// Where they go.
        public var offset: Int64
        /// How many of them are wanted.
        public var count: Int
        /// The share is full, and what its response has left is somebody else's.
        public var isCut: Bool
        /// There were more than the response had announced: none of them is to be trusted.
        public var isExcess: Bool

        public init(offset: Int64, count: Int, isCut: Bool, isExcess: Bool) {
            (self.offset, self.count, self.isCut, self.isExcess) = (offset, count, isCut, isExcess)
        }
    }

    /// - Parameter count: bytes that came.
    /// - Returns: nil when the share was taken over by another connection.
    public mutating func advance(_ claim: Claim, by count: Int, at now: Duration) -> Advance? {
        guard var share = shares[claim] else { return nil }
        // One byte more than came, so that the share is not full where it can go on.
        let wish = share.position + Int64(count) + 1
        while share.end < wish, let end = regained(share, upTo: wish) { share.end = end }
        let wanted = Swift.min(Int64(count), share.remaining)
        if wanted < count, share.end >= share.reach {
            return Advance(offset: share.position, count: 0, isCut: false, isExcess: true)
        }
        let advance = Advance(
            offset: share.position, count: Int(wanted), isCut: share.remaining == wanted && share.end < share.reach,
            isExcess: false)
        share.position += wanted
        share.movedAt = now
        shares[claim] = share
        return advance
    }

    /// What follows a share and nobody brings, as far as its response goes.
    ///
    /// - Returns: where the share ends with it; nil: where it did.
    private mutating func regained(_ share: Share, upTo wish: Int64) -> Int64? {
        guard share.reach > share.end else { return nil }
        if let next = unclaimed.ranges.first(where: { $0.lowerBound == share.end }) {
            let end = Swift.min(next.upperBound, share.reach)
            unclaimed.remove(contentsOf: share.end..<end)
            return end
        }
        guard let (claim, next) = shares.first(where: { $0.value.position == share.end && !$0.value.isAnswered }) else {
            return nil
        }
        let end = Swift.min(next.end, share.reach, wish)
        shares[claim]?.position = end
        if end == next.end { shares[claim] = nil }
        return end > share.end ? end : nil
    }

    /// The connection has ended; what it has not brought is for others.
    public mutating func giveUp(_ claim: Claim) {
        guard let share = shares.removeValue(forKey: claim), share.position < share.end else { return }
        unclaimed.insert(contentsOf: share.position..<share.end)
    }

    /// The body has ended as it should: of a file whose size was not known, this is the end.
    public mutating func close(_ claim: Claim) {
        if let share = shares[claim], share.end == .max { shares[claim] = nil } else { giveUp(claim) }
    }
}
