import Testing

@testable import Engine

/// How objects are divided. Servers accept parts of 5 MiB to 5 GiB, and 10,000 of them.
@Suite struct ObjectPartsTests {
    private static let mebibyte: Int64 = 1 << 20

    @Test(
        arguments: [
            (0, 8, 0), (1, 8, 1), (8 << 20, 8, 1), (8 << 20 + 1, 8, 2), (9_000 * (8 << 20), 8, 9_000),
            (9_000 * (8 << 20) + 1, 9, 8_001), (5 << 40, 583, 8_993),
        ] as [(Int64, Int64, Int)])
    func thePartsAreEqualAndFew(_ size: Int64, _ partMebibytes: Int64, _ count: Int) {
        let parts = ObjectParts(size: size)
        #expect(parts.partSize == partMebibytes * Self.mebibyte && parts.count == count)
        #expect(parts.isOne == (size <= parts.partSize))
        guard count > 0 else { return }
        #expect(parts[1].lowerBound == 0 && parts[count].upperBound == size && !parts[count].isEmpty)
        for number in 1..<count where number < 4 || number > count - 4 {
            #expect(parts[number].count == Int(parts.partSize))
            #expect(parts[number].upperBound == parts[number + 1].lowerBound)
        }
    }
}
