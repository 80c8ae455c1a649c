import Foundation
import TestKit
import Testing

@testable import Downloads

/// Claims of segments to connections.
@Suite struct SegmentsTests {
    private let start = Duration.zero
    private let smallest = Segments.smallestSegment

    private func whole(_ count: Int64) -> Segments { Segments(missing: [0..<count * smallest]) }

    private func claim(_ segments: inout Segments) throws -> SegmentClaim {
        let claim = segments.claim(at: start)
        return try #require(claim)
    }

    private func advance(
        _ segments: inout Segments, _ claim: SegmentClaim, by count: Int
    ) throws -> Segments.Advance {
        let advance = segments.advance(claim, by: count, at: start)
        return try #require(advance)
    }

    /// The ranges of claims, in units of the smallest segment.
    private func ranges(_ segments: Segments, _ claims: [SegmentClaim]) -> [Range<Int64>?] {
        claims.map { segments.range(of: $0).map { $0.lowerBound / smallest..<$0.upperBound / smallest } }
    }

    @Test func leasesHalfOfLargestSegment() throws {
        var segments = whole(8)
        var claims: [SegmentClaim] = []
        while let claim = segments.claim(at: start) { claims.append(claim) }
        #expect(ranges(segments, claims) == [0..<1, 4..<5, 2..<3, 6..<7, 1..<2, 5..<6, 3..<4, 7..<8])
        #expect(!segments.isClaimable)
    }

    @Test func dividesOnlyMissingBytes() throws {
        var segments = whole(8)
        let first = try claim(&segments)
        _ = segments.advance(first, by: Int(4 * smallest), at: start)
        let second = try claim(&segments)
        #expect(ranges(segments, [first, second]) == [4..<6, 6..<8])
    }

    @Test func leasesGapsBeforeDividingSegments() throws {
        var segments = Segments(missing: [
            0..<4 * smallest, 6 * smallest..<7 * smallest, 9 * smallest..<9 * smallest + 1,
        ])
        let claims = try (0..<3).map { _ in try claim(&segments) }
        #expect(claims.map { segments.range(of: $0)?.lowerBound } == [0, 6 * smallest, 9 * smallest])
        #expect(segments.range(of: claims[2])?.count == 1)
    }

    @Test func dividesNoSmallSegment() throws {
        var segments = Segments(missing: [0..<2 * smallest - 1])
        _ = try claim(&segments)
        #expect(!segments.isClaimable)
    }

    @Test func dividesNoFileOfUnknownSizeAndCompletesWithItsBody() throws {
        var segments = Segments(missing: [5..<Int64.max])
        let first = try claim(&segments)
        #expect(!segments.isClaimable)
        #expect(try advance(&segments, first, by: 1000).offset == 5)
        #expect(!segments.isComplete)
        segments.close(first)
        #expect(segments.isComplete)
    }

    @Test func leasesRestOfBodyThatEndedEarly() throws {
        var segments = whole(2)
        let first = try claim(&segments)
        _ = segments.advance(first, by: 10, at: start)
        segments.close(first)
        #expect(!segments.isComplete)
        let next = try claim(&segments)
        #expect(segments.range(of: next) == 10..<2 * smallest)
    }

    @Test func cutsDividedSegmentAtItsEnd() throws {
        var segments = whole(4)
        let first = try claim(&segments)
        let second = try claim(&segments)
        let skipped = segments.answer(second, from: 2 * smallest, reach: nil, isMeasured: true)
        #expect(skipped == 0)
        let advance = try self.advance(&segments, first, by: Int(3 * smallest))
        #expect(advance == .init(offset: 0, count: Int(2 * smallest), isCut: true, isExcess: false))
        #expect(segments.range(of: first)?.isEmpty == true)
    }

    @Test func growsSegmentBackWhenOtherHalfIsReleased() throws {
        var segments = whole(4)
        let first = try claim(&segments)
        let second = try claim(&segments)
        segments.release(second)
        let advance = try self.advance(&segments, first, by: Int(4 * smallest))
        #expect(advance == .init(offset: 0, count: Int(4 * smallest), isCut: false, isExcess: false))
        segments.close(first)
        #expect(segments.isComplete)
    }

    @Test func growsSegmentBackOnlyOverMissingBytes() throws {
        var segments = whole(4)
        let first = try claim(&segments)
        let second = try claim(&segments)
        _ = segments.advance(second, by: 7, at: start)
        segments.release(second)
        let advance = try self.advance(&segments, first, by: Int(4 * smallest))
        #expect(advance.count == Int(2 * smallest))
        segments.release(first)
        let rest = try claim(&segments)
        #expect(segments.range(of: rest) == 2 * smallest + 7..<4 * smallest)
    }

    /// The connection for the other half may be refused, or get another file.
    @Test func continuesBeyondCutUntilOtherConnectionAnswers() throws {
        var segments = whole(4)
        let first = try claim(&segments)
        let second = try claim(&segments)
        let advance = try self.advance(&segments, first, by: Int(3 * smallest))
        #expect(advance == .init(offset: 0, count: Int(3 * smallest), isCut: false, isExcess: false))
        // Bytes received meanwhile are skipped, and one byte in transit.
        let skipped = segments.answer(second, from: 2 * smallest, reach: 4 * smallest, isMeasured: true)
        #expect(skipped == smallest + 1)
        #expect(
            try self.advance(&segments, first, by: 9)
                == .init(offset: 3 * smallest, count: 1, isCut: true, isExcess: false))
        #expect(segments.range(of: second) == 3 * smallest + 1..<4 * smallest)
    }

    @Test func rejectsConnectionThatAnswersTooLate() throws {
        var segments = whole(4)
        let first = try claim(&segments)
        let second = try claim(&segments)
        #expect(try advance(&segments, first, by: Int(4 * smallest)).isCut == false)
        let skipped = segments.answer(second, from: 2 * smallest, reach: nil, isMeasured: true)
        #expect(skipped == nil)
        segments.release(second)
        segments.close(first)
        #expect(segments.isComplete)
    }

    @Test func growsSegmentBackOnlyToEndOfItsResponse() throws {
        var segments = Segments(missing: [0..<2 * smallest, 3 * smallest..<4 * smallest])
        let first = try claim(&segments)
        // The next bytes are not missing: the response for the first gap ends before them.
        let advance = try self.advance(&segments, first, by: Int(2 * smallest) + 1)
        #expect(advance == .init(offset: 0, count: 0, isCut: false, isExcess: true))
        #expect(segments.range(of: first)?.lowerBound == 0)
    }

    @Test func cutsResponseBeyondRequestedRange() throws {
        var segments = Segments(missing: [0..<2 * smallest, 3 * smallest..<4 * smallest])
        let first = try claim(&segments)
        let skipped = segments.answer(first, from: 0, reach: 4 * smallest, isMeasured: true)
        #expect(skipped == 0)
        let advance = try self.advance(&segments, first, by: Int(3 * smallest))
        #expect(advance == .init(offset: 0, count: Int(2 * smallest), isCut: true, isExcess: false))
    }

    /// A body without a length can be the whole file instead of the range. Only its end shows that.
    @Test func dividesNoSegmentWhoseResponseHasNoLength() throws {
        var segments = whole(4)
        let first = try claim(&segments)
        let second = try claim(&segments)
        #expect(segments.answer(second, from: 2 * smallest, reach: 4 * smallest, isMeasured: false) == 0)
        let third = try claim(&segments)
        #expect(segments.range(of: third) == smallest..<2 * smallest)
        #expect(segments.range(of: second) == 2 * smallest..<4 * smallest)
        #expect(segments.range(of: first) == 0..<smallest)
        #expect(!segments.isClaimable)
        let advance = try self.advance(&segments, second, by: Int(2 * smallest) + 1)
        #expect(advance == .init(offset: 2 * smallest, count: 0, isCut: false, isExcess: true))
    }

    @Test func rejectsResponseWithoutLengthForADividedSegment() throws {
        var segments = whole(8)
        _ = try claim(&segments)
        let second = try claim(&segments)
        _ = try claim(&segments)
        let fourth = try claim(&segments)
        #expect(segments.range(of: second) == 4 * smallest..<6 * smallest)
        #expect(segments.range(of: fourth) == 6 * smallest..<8 * smallest)
        #expect(segments.answer(second, from: 4 * smallest, reach: 8 * smallest, isMeasured: false) == nil)
        segments.release(second)
        let again = try claim(&segments)
        #expect(segments.range(of: again) == 4 * smallest..<6 * smallest)
        #expect(segments.answer(again, from: 4 * smallest, reach: 6 * smallest, isMeasured: false) == 0)
    }

    /// The whole file and a range from its beginning have the same first bytes.
    @Test func dividesResponseWithoutLengthFromTheBeginning() throws {
        var segments = whole(4)
        let first = try claim(&segments)
        #expect(segments.answer(first, from: 0, reach: 4 * smallest, isMeasured: false) == 0)
        let second = try claim(&segments)
        #expect(segments.range(of: first) == 0..<2 * smallest)
        #expect(segments.range(of: second) == 2 * smallest..<4 * smallest)
    }

    @Test func reassignsSegmentOfStalledConnection() throws {
        var segments = whole(1)
        let silent = try claim(&segments)
        _ = segments.advance(silent, by: 100, at: start + .seconds(10))
        #expect(!segments.isAnyStalled(since: start + .seconds(9)))
        let takenOver = segments.takeOver(stalledSince: start + .seconds(10), at: start)
        let taken = try #require(takenOver)
        #expect(taken.from == silent)
        #expect(segments.range(of: taken.claim) == 100..<smallest)
        let late = segments.advance(silent, by: 100, at: start)
        #expect(late == nil)
    }

    @Test func completesEmptyFile() {
        var segments = Segments(missing: [])
        let claim = segments.firstClaim(at: start)
        #expect(segments.range(of: claim)?.isEmpty == true)
        segments.close(claim)
        #expect(segments.isComplete)
    }

    /// Every byte is received exactly once, for random actions of the connections.
    @Test(arguments: UInt64(1)...50)
    func fetchesEveryByteOnce(seed: UInt64) throws {
        var random = SplitMix64(state: seed)
        let size = Int64.random(in: 1...(20 * smallest), using: &random)
        var segments = Segments(missing: [0..<size])
        var brought = ByteRanges()
        // Each claim with the end of its response, which never sends more.
        var open: [(claim: SegmentClaim, reach: Int64)] = []
        func ask(_ claim: SegmentClaim) { open.append((claim, segments.range(of: claim)?.upperBound ?? 0)) }
        var now = start
        while !segments.isComplete {
            now += .seconds(Double.random(in: 0...1, using: &random))
            if open.count < 8, Bool.random(using: &random), let claim = segments.claim(at: now) { ask(claim) }
            guard let index = open.indices.randomElement(using: &random) else { continue }
            let (claim, reach) = open[index]
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                segments.release(claim)
                open.remove(at: index)
            case 1:
                if let taken = segments.takeOver(stalledSince: now - .seconds(3), at: now) { ask(taken.claim) }
            default:
                let left = reach - (segments.range(of: claim)?.lowerBound ?? 0)
                let count = min(Int(left), Int.random(in: 1...Int(3 * smallest / 2), using: &random))
                guard let advance = segments.advance(claim, by: count, at: now), advance.count > 0 else {
                    segments.release(claim)
                    open.remove(at: index)
                    continue
                }
                let range = advance.offset..<advance.offset + Int64(advance.count)
                let isNew = brought.intersection(ByteRanges(range)).isEmpty
                #expect(isNew)
                brought.insert(contentsOf: range)
            }
        }
        #expect(brought == ByteRanges(prefix: size))
    }
}

@Suite struct ByteRangesTests {
    @Test func computesGapsAndCounts() {
        let ranges = ByteRanges([0..<10, 20..<30])
        #expect(ranges.gaps(upTo: 40) == [10..<20, 30..<40])
        #expect(ranges.gaps(upTo: 30) == [10..<20])
        #expect(ByteRanges().gaps(upTo: 5) == [0..<5])
        #expect(ByteRanges().gaps(upTo: 0).isEmpty)
        #expect((ranges.count, ranges.prefix, ranges.end, ranges.isPrefix) == (20, 10, 30, false))
        #expect((ByteRanges([3..<4]).prefix, ByteRanges().end) == (0, 0))
        #expect(ByteRanges(prefix: 7).isPrefix && ByteRanges().isPrefix)
    }

    @Test func readsWrittenPairs() {
        let ranges = ByteRanges([0..<10, 20..<30])
        #expect(ByteRanges(pairs: ranges.pairs) == ranges)
        #expect(ByteRanges(pairs: []) == ByteRanges())
    }

    @Test(arguments: [[[5, 5]], [[5, 4]], [[0, 5], [5, 6]], [[0, 5], [3, 9]], [[-1, 3]], [[1]], [[1, 2, 3]]])
    func refusesInvalidPairs(_ pairs: [[Int64]]) { #expect(ByteRanges(pairs: pairs) == nil) }
}
