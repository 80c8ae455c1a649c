import Downloads
import Testing

@testable import Aria2RPC

@Suite struct PiecesTests {
    private static let mebibyte: Int64 = 1 << 20

    @Test(
        arguments: [
            (0, 0, 1), (1, 1, 1), (1 << 20, 1, 1), ((1 << 20) + 1, 2, 1), (1023 << 20, 1023, 1), (1 << 30, 512, 2),
            (1 << 50, 512, 1 << 21), (-1, 0, 1),
        ] as [(Int64, Int, Int64)])
    func aLargeFileHasLongerPieces(_ size: Int64, _ count: Int, _ mebibytes: Int64) {
        let pieces = Pieces(of: size)
        #expect(pieces.count == count && pieces.length == mebibytes << 20)
    }

    /// Ten pieces, of which the last one is shorter.
    @Test(
        arguments: [
            ([], "0000"), ([[0, 1 << 20]], "8000"), ([[0, (1 << 20) - 1]], "0000"), ([[1, 3 << 20]], "6000"),
            ([[0, 9 << 20]], "ff80"), ([[9 << 20, (9 << 20) + 5]], "0040"), ([[0, (9 << 20) + 5]], "ffc0"),
            ([[0, 1 << 20], [8 << 20, (9 << 20) + 5]], "80c0"),
        ] as [([[Int64]], String)])
    func aBitStandsForACompletePiece(_ ranges: [[Int64]], _ bits: String) throws {
        let received = try #require(ByteRanges(pairs: ranges))
        #expect(Pieces(of: (9 << 20) + 5).bitfield(of: received) == bits)
    }
}
