import Testing

@testable import HTTPServer

@Suite struct MemoryTrimPolicyTests {
    /// Checks at intervals of a second: the free memory in units of what is much, and the checks at which memory is trimmed.
    @Test(arguments: [
        (of: [0, 0.9, 0.5], at: [Int]()),
        (of: [0.5, 1.4, 1.6, 1.6], at: [2]),
        (of: [0, 1, 1, 1], at: [1]),
        // The blocks that were returned are used again, and freed.
        (of: [0, 5, 5, 1, 5], at: [1, 4]),
        (of: [5, 5, 4.5, 5], at: []),
        (of: [5, 6, 7, 7.5], at: [1, 2]),
    ]) func trimsWhenMuchWasUsedAndIsFree(_ checks: (of: [Double], at: [Int])) {
        var trimPolicy = MemoryTrimPolicy()
        let trimmed = checks.of.indices.filter { index in
            trimPolicy.shouldTrim(free: Int(checks.of[index] * Double(MemoryTrimPolicy.much)))
        }
        #expect(trimmed == checks.at)
    }
}
