import Downloads
import Foundation
import TestKit
import Testing

/// Who fetches what.
@Suite struct SegmentsTests {
    private let start = Duration.zero
    private let share = Segments.smallestShare

    private func whole(_ shares: Int64) -> Segments { Segments(missing: [0..<shares * share]) }

    private func claim(_ segments: inout Segments) throws -> Segments.Claim {
        let claim = segments.claim(at: start)
        return try #require(claim)
    }

    private func advance(
        _ segments: inout Segments, _ claim: Segments.Claim, by count: Int
    ) throws -> Segments.Advance {
        let advance = segments.advance(claim, by: count, at: start)
        return try #require(advance)
    }

    /// What a claim stands for, in shares of the smallest size.
    private func ranges(_ segments: Segments, _ claims: [Segments.Claim]) -> [Range<Int64>?] {
        claims.map { segments.range(of: $0).map { $0.lowerBound / share..<$0.upperBound / share } }
    }

    @Test func whoeverComesTakesHalfOfTheLargest() throws {
        var segments = whole(8)
        var claims: [Segments.Claim] = []
        while let claim = segments.claim(at: start) { claims.append(claim) }
        #expect(ranges(segments, claims) == [0..<1, 4..<5, 2..<3, 6..<7, 1..<2, 5..<6, 3..<4, 7..<8])
        #expect(!segments.isClaimable)
    }

    @Test func halvesAreOfWhatIsStillToCome() throws {
        var segments = whole(8)
        let first = try claim(&segments)
        _ = segments.advance(first, by: Int(4 * share), at: start)
        let second = try claim(&segments)
        #expect(ranges(segments, [first, second]) == [4..<6, 6..<8])
    }

    @Test func gapsAreTakenBeforeAnybodyIsCut() throws {
        var segments = Segments(missing: [0..<4 * share, 6 * share..<7 * share, 9 * share..<9 * share + 1])
        let claims = try (0..<3).map { _ in try claim(&segments) }
        #expect(claims.map { segments.range(of: $0)?.lowerBound } == [0, 6 * share, 9 * share])
        #expect(segments.range(of: claims[2])?.count == 1)
    }

    @Test func whatIsSmallIsNotDivided() throws {
        var segments = Segments(missing: [0..<2 * share - 1])
        _ = try claim(&segments)
        #expect(!segments.isClaimable)
    }

    @Test func aFileOfUnknownSizeIsNotDividedAndEndsWithItsBody() throws {
        var segments = Segments(missing: [5..<Int64.max])
        let first = try claim(&segments)
        #expect(!segments.isClaimable)
        #expect(try advance(&segments, first, by: 1000).offset == 5)
        #expect(!segments.isComplete)
        segments.close(first)
        #expect(segments.isComplete)
    }

    @Test func aBodyThatEndsEarlyLeavesTheRestToOthers() throws {
        var segments = whole(2)
        let first = try claim(&segments)
        _ = segments.advance(first, by: 10, at: start)
        segments.close(first)
        #expect(!segments.isComplete)
        let next = try claim(&segments)
        #expect(segments.range(of: next) == 10..<2 * share)
    }

    @Test func aShareThatWasCutEndsThereAndItsResponseIsNotNeeded() throws {
        var segments = whole(4)
        let first = try claim(&segments)
        let second = try claim(&segments)
        let skipped = segments.answer(second, from: 2 * share, reach: nil)
        #expect(skipped == 0)
        let advance = try self.advance(&segments, first, by: Int(3 * share))
        #expect(advance == .init(offset: 0, count: Int(2 * share), isCut: true, isExcess: false))
        #expect(segments.range(of: first)?.isEmpty == true)
    }

    @Test func aShareGrowsBackWhenTheOtherHalfIsGivenUp() throws {
        var segments = whole(4)
        let first = try claim(&segments)
        let second = try claim(&segments)
        segments.giveUp(second)
        let advance = try self.advance(&segments, first, by: Int(4 * share))
        #expect(advance == .init(offset: 0, count: Int(4 * share), isCut: false, isExcess: false))
        segments.close(first)
        #expect(segments.isComplete)
    }

    @Test func aShareDoesNotGrowBackOverWhatWasBroughtMeanwhile() throws {
        var segments = whole(4)
        let first = try claim(&segments)
        let second = try claim(&segments)
        _ = segments.advance(second, by: 7, at: start)
        segments.giveUp(second)
        let advance = try self.advance(&segments, first, by: Int(4 * share))
        #expect(advance.count == Int(2 * share))
        segments.giveUp(first)
        let rest = try claim(&segments)
        #expect(segments.range(of: rest) == 2 * share + 7..<4 * share)
    }

    /// Whoever was to bring the other half may be refused, or get another file.
    @Test func aShareGoesOnWhereNobodyAnswersYet() throws {
        var segments = whole(4)
        let first = try claim(&segments)
        let second = try claim(&segments)
        let advance = try self.advance(&segments, first, by: Int(3 * share))
        #expect(advance == .init(offset: 0, count: Int(3 * share), isCut: false, isExcess: false))
        // What has come meanwhile is skipped, and one byte that is on its way.
        let skipped = segments.answer(second, from: 2 * share, reach: 4 * share)
        #expect(skipped == share + 1)
        #expect(
            try self.advance(&segments, first, by: 9)
                == .init(offset: 3 * share, count: 1, isCut: true, isExcess: false))
        #expect(segments.range(of: second) == 3 * share + 1..<4 * share)
    }

    @Test func whoAnswersTooLateIsNotWanted() throws {
        var segments = whole(4)
        let first = try claim(&segments)
        let second = try claim(&segments)
        #expect(try advance(&segments, first, by: Int(4 * share)).isCut == false)
        let skipped = segments.answer(second, from: 2 * share, reach: nil)
        #expect(skipped == nil)
        segments.giveUp(second)
        segments.close(first)
        #expect(segments.isComplete)
    }

    @Test func aShareGrowsBackNoFurtherThanItsResponseGoes() throws {
        var segments = Segments(missing: [0..<2 * share, 3 * share..<4 * share])
        let first = try claim(&segments)
        // What follows is there already: the response for the first gap ends before it.
        let advance = try self.advance(&segments, first, by: Int(2 * share) + 1)
        #expect(advance == .init(offset: 0, count: 0, isCut: false, isExcess: true))
        #expect(segments.range(of: first)?.lowerBound == 0)
    }

    @Test func aResponseThatGoesFurtherThanAskedForIsCutNotWrong() throws {
        var segments = Segments(missing: [0..<2 * share, 3 * share..<4 * share])
        let first = try claim(&segments)
        let skipped = segments.answer(first, from: 0, reach: 4 * share)
        #expect(skipped == 0)
        let advance = try self.advance(&segments, first, by: Int(3 * share))
        #expect(advance == .init(offset: 0, count: Int(2 * share), isCut: true, isExcess: false))
    }

    @Test func whoIsSilentLosesItsShareToWhoIsIdle() throws {
        var segments = whole(1)
        let silent = try claim(&segments)
        _ = segments.advance(silent, by: 100, at: start + .seconds(10))
        #expect(!segments.isAnyStalled(since: start + .seconds(9)))
        let takenOver = segments.takeOver(stalledSince: start + .seconds(10), at: start)
        let taken = try #require(takenOver)
        #expect(taken.from == silent)
        #expect(segments.range(of: taken.claim) == 100..<share)
        let late = segments.advance(silent, by: 100, at: start)
        #expect(late == nil)
    }

    @Test func anEmptyFileHasAShareThatIsFull() {
        var segments = Segments(missing: [])
        let claim = segments.firstClaim(at: start)
        #expect(segments.range(of: claim)?.isEmpty == true)
        segments.close(claim)
        #expect(segments.isComplete)
    }

    /// Whatever connections do, every byte is brought exactly once.
    @Test(arguments: UInt64(1)...50)
    func everyByteIsBroughtOnce(seed: UInt64) throws {
        var random = SplitMix64(state: seed)
        let size = Int64.random(in: 1...(20 * share), using: &random)
        var segments = Segments(missing: [0..<size])
        var brought = ByteRanges()
        // Each with the end of its response, which never brings more.
        var open: [(claim: Segments.Claim, reach: Int64)] = []
        func ask(_ claim: Segments.Claim) { open.append((claim, segments.range(of: claim)?.upperBound ?? 0)) }
        var now = start
        while !segments.isComplete {
            now += .seconds(Double.random(in: 0...1, using: &random))
            if open.count < 8, Bool.random(using: &random), let claim = segments.claim(at: now) { ask(claim) }
            guard let index = open.indices.randomElement(using: &random) else { continue }
            let (claim, reach) = open[index]
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                segments.giveUp(claim)
                open.remove(at: index)
            case 1:
                if let taken = segments.takeOver(stalledSince: now - .seconds(3), at: now) { ask(taken.claim) }
            default:
                let left = reach - (segments.range(of: claim)?.lowerBound ?? 0)
                let count = min(Int(left), Int.random(in: 1...Int(3 * share / 2), using: &random))
                guard let advance = segments.advance(claim, by: count, at: now), advance.count > 0 else {
                    segments.giveUp(claim)
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
    @Test func gapsAreWhatIsMissing() {
        let ranges = ByteRanges([0..<10, 20..<30])
        #expect(ranges.gaps(upTo: 40) == [10..<20, 30..<40])
        #expect(ranges.gaps(upTo: 30) == [10..<20])
        #expect(ByteRanges().gaps(upTo: 5) == [0..<5])
        #expect(ByteRanges().gaps(upTo: 0).isEmpty)
        #expect((ranges.count, ranges.prefix, ranges.end, ranges.isPrefix) == (20, 10, 30, false))
        #expect((ByteRanges([3..<4]).prefix, ByteRanges().end) == (0, 0))
        #expect(ByteRanges(prefix: 7).isPrefix && ByteRanges().isPrefix)
    }

    @Test func pairsAreReadBack() {
        let ranges = ByteRanges([0..<10, 20..<30])
        #expect(ByteRanges(pairs: ranges.pairs) == ranges)
        #expect(ByteRanges(pairs: []) == ByteRanges())
    }

    @Test(arguments: [[[5, 5]], [[5, 4]], [[0, 5], [5, 6]], [[0, 5], [3, 9]], [[-1, 3]], [[1]], [[1, 2, 3]]])
    func nonsenseIsNotRead(_ pairs: [[Int64]]) { #expect(ByteRanges(pairs: pairs) == nil) }
}
