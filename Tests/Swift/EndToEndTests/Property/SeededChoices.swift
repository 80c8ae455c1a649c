import TestKit

/// Seeded choices: the same seed always makes the same plan.
struct SeededChoices {
    private var generator: SplitMix64

    init(seed: UInt64) { generator = SplitMix64(state: seed) }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

    mutating func chance(_ percent: Int) -> Bool { number(1...100) <= percent }

    mutating func pick<Value>(_ values: [Value]) -> Value { values[number(0...values.count - 1)] }

    /// An offset within a file, likely at a boundary: of segments (256 KiB), of buffers (16 and 64 KiB), or next to
    /// one.
    mutating func offset(within size: Int) -> Int {
        guard size > 0 else { return 0 }
        if chance(40) { return number(0...size) }
        let step = pick([1, 1 << 10, 1 << 14, 1 << 16, 1 << 18])
        let near = number(0...size / step) * step + number(-1...1)
        return min(max(0, near), size)
    }
}
