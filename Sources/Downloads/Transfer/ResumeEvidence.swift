import HTTPSemantics

/// What lets fetchd continue bytes of an earlier response.
public enum ResumePolicy: String, Sendable, Codable, CaseIterable {
    /// Only the same strong validator, or the checksum of the job (RFC 9110, section 15.3.7.3).
    case strict
    /// Also equal bytes, where the facts of both responses allow that they have one version: see `RequestedRange.mayBeSame`.
    case evidence
}

/// The bytes that are fetched again and compared, before bytes are continued without the same strong validator.
extension Part {
    /// In bytes.
    public static let mostOverlap: Int64 = 64 << 10
    private static let sampleSize: Int64 = 16 << 10
    private static let sampleCount = 3
    /// The number of bytes from which a part has a whole sample.
    public static let leastSample = mostOverlap + sampleSize

    /// The number of bytes directly before the first missing one that are requested again with the rest.
    public var overlap: Int64 {
        let offset = rest.offset
        return onDisk.ranges.first { $0.upperBound == offset }.map { min(Int64($0.count), Self.mostOverlap) } ?? 0
    }

    /// Pieces of the other stored bytes. The part's identifier determines their places, which no server knows.
    public var samples: [Range<Int64>] {
        let offset = rest.offset
        let stored = onDisk.subtracting(ByteRanges(offset - overlap..<offset))
        guard stored.count > 0 else { return [] }
        var generator = SplitMix(seed: id.text)
        return (0..<Self.sampleCount).compactMap { _ in
            stored.piece(at: Int64(generator.next() % UInt64(stored.count)), of: Self.sampleSize)
        }
    }
}

extension ByteRanges {
    /// The bytes from the one with this number on, in the range that has it; earlier ones if that range ends before.
    fileprivate func piece(at place: Int64, of size: Int64) -> Range<Int64>? {
        var left = place
        for range in ranges {
            guard left >= Int64(range.count) else {
                let start = Swift.max(range.lowerBound, Swift.min(range.lowerBound + left, range.upperBound - size))
                return start..<Swift.min(start + size, range.upperBound)
            }
            left -= Int64(range.count)
        }
        return nil
    }
}

/// The generator SplitMix64 (Steele, Lea and Flood, 2014), which begins with the FNV-1a hash of a text.
private struct SplitMix {
    private var state: UInt64 = 0xcbf2_9ce4_8422_2325

    init(seed: String) { for byte in seed.utf8 { state = (state ^ UInt64(byte)) &* 0x100_0000_01b3 } }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = (state ^ (state >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

extension RequestedRange {
    /// Whether a response may have the version of the received bytes, so that equal bytes show it. The sizes must be equal, and:
    ///
    /// - With equal strong tags, only the dates differ: the server may have kept an old tag, or copied the file.
    /// - With equal tags that identify no version (weak ones, and those of a file that had just changed), no date differs.
    /// - With two strong tags, or without tags, the dates are equal.
    ///
    /// The first case does not depend on the policy: neither the tag nor the date can be believed there.
    func mayBeSame(_ response: ResponseFacts, size total: Int64?) -> Bool {
        let (old, new) = (validators, response.validators)
        guard presentBytes > 0, !restsOnChecksum, let size, size == total, !old.isEncoded, !new.isEncoded else {
            return false
        }
        let areDated = old.lastModified != nil && new.lastModified != nil
        let isSameDate = old.lastModified == new.lastModified
        switch (old.etag, new.etag) {
        case (let one?, let other?) where one == other:
            if old.strong != nil, areDated, !isSameDate { return true }
            return policy == .evidence && (isSameDate || !areDated)
        case (_?, _?): return policy == .evidence && old.hasStrongTag && new.hasStrongTag && areDated && isSameDate
        case (nil, nil): return policy == .evidence && areDated && isSameDate
        default: return false
        }
    }

    /// The same request after samples were equal: it has no condition, and begins with bytes that are compared.
    public func weighed(overlapping overlap: Int64) -> RequestedRange {
        var asked = self
        asked.isWeighed = true
        asked.overlap = overlap
        return asked
    }

    /// The request for a sample of the received bytes.
    public func sample(_ range: Range<Int64>) -> RequestedRange {
        var asked = weighed(overlapping: 0)
        asked.offset = range.lowerBound
        asked.end = range.upperBound
        return asked
    }
}
