import Testing

@testable import HTTPServer

@Suite struct MemoryTrimPolicyTests {
    /// Checks at intervals of a second: the number of connections, and the checks at which memory is trimmed.
    @Test(arguments: [
        (of: [0, 100, 0, 0, 0], at: [Int]()),
        (of: [600, 300, 300, 300], at: [2]),
        (of: [600, 301, 301], at: []),
        (of: [600, 300, 400, 300, 300], at: [4]),
        (of: [10_000, 0, 0, 0, 0], at: [2]),
        (of: [10_000, 4000, 4000, 1900, 1900, 0, 0, 0], at: [2, 4, 6]),
        (of: [600, 0, 0, 700, 0, 0], at: [2, 5]),
    ]) func trimsWhenHalfOfManyConnectionsHaveClosed(_ looks: (of: [Int], at: [Int])) {
        var trimPolicy = MemoryTrimPolicy()
        let given = looks.of.indices.filter { trimPolicy.shouldTrim(connections: looks.of[$0]) }
        #expect(given == looks.at)
    }

    @Test func needsNoMoreNumbersWhenTheMemoryIsTrimmed() {
        var trimPolicy = MemoryTrimPolicy()
        let isNeeded = [10_000, 0, 0].map { connections in
            _ = trimPolicy.shouldTrim(connections: connections)
            return trimPolicy.mayTrim
        }
        #expect(isNeeded == [true, true, false])
    }
}
