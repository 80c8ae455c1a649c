import Downloads
import Formats
import Foundation
import Testing

@Suite struct QueueRankTests {
    private static let ids = (0..<50).map { JobID(String(format: "job_01HZX3K9V7Q2N4R8T6W0YB5C%02d", $0)) }

    @Test func theRankOfAnUnmovedJobIsItsIdentifier() {
        #expect(QueueRank(of: Self.ids[0]).text == Self.ids[0].text)
        #expect(QueueRank(of: Self.ids[0]) < QueueRank(of: Self.ids[1]))
    }

    /// Every place of a list of ranks, chosen at random many times.
    @Test(arguments: [1, 2, 3] as [UInt64]) func findsRoomAtEveryPlace(_ seed: UInt64) throws {
        var random = SplitMix(seed)
        var ranks = Self.ids.map { QueueRank(of: $0) }
        for _ in 0..<1000 {
            let index = Int.random(in: 0..<ranks.count, using: &random)
            let new = try #require(
                index == 0 ? QueueRank.before(ranks[0]) : QueueRank.between(ranks[index - 1], ranks[index]))
            ranks.insert(new, at: index)
        }
        #expect(ranks == ranks.sorted())
        #expect(Set(ranks).count == ranks.count)
        #expect(ranks.allSatisfy { $0.text.utf8.count <= QueueRank.longest })
    }

    @Test func ranksBeforeTheFirstDoNotBecomeLonger() throws {
        var first = QueueRank(of: Self.ids[0])
        for _ in 0..<10_000 {
            let next = try #require(QueueRank.before(first))
            #expect(next < first)
            first = next
        }
        #expect(first.text.utf8.count == 9)
    }

    @Test func onePlaceTakesHundredsOfMoves() {
        let previous = QueueRank(of: Self.ids[0])
        var (next, moves) = (QueueRank(of: Self.ids[1]), 0)
        while let rank = QueueRank.between(previous, next) {
            #expect(previous < rank && rank < next)
            (next, moves) = (rank, moves + 1)
        }
        #expect(moves >= 400)
    }

    @Test(arguments: [("b", "a"), ("a", "a"), ("a", "a0"), ("", "")])
    func thereIsNoRoomBetween(_ previous: String, _ next: String) {
        #expect(QueueRank.between(QueueRank(previous), QueueRank(next)) == nil)
    }

    @Test func thereIsNothingBeforeTheLowestRank() {
        #expect(QueueRank.before(QueueRank("0000")) == nil)
    }
}

private struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
