/// Inputs that are made from others: with bytes that were changed, inserted, removed or repeated, or with the end of another
/// input. The same seeds and name give the same inputs.
struct Mutations {
    private let seeds: [[UInt8]]
    private var generator: Generator

    /// Bytes that mean something to a reader of text, JSON, HTTP, or UTF-8.
    private static let special =
        [UInt8]("\0\t\r\n \"%&'()*+,-./0:;<=>?@[\\]^_`{|}~9eE".utf8) + [0x7F, 0x80, 0xC3, 0xED, 0xFF]

    init(of seeds: [[UInt8]], named name: String) {
        self.seeds = seeds
        generator = Generator(state: name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0100_0000_01B3 })
    }

    mutating func next() -> [UInt8] {
        var input = seed()
        for _ in 0...Int.random(in: 0..<4, using: &generator) { change(&input) }
        return input
    }

    private mutating func seed() -> [UInt8] { seeds.randomElement(using: &generator) ?? [] }

    private mutating func change(_ input: inout [UInt8]) {
        let (range, other) = (range(in: input), seed())
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: input.replaceSubrange(range, with: [UInt8.random(in: 0...255, using: &generator)])
        case 1: input.insert(Self.special.randomElement(using: &generator) ?? 0, at: range.lowerBound)
        case 2: input.removeSubrange(range)
        case 3: input.insert(contentsOf: input[range], at: range.upperBound)
        case 4: input.replaceSubrange(range, with: other[self.range(in: other)])
        default: if !range.isEmpty { input[range.lowerBound] ^= 1 << UInt8.random(in: 0..<8, using: &generator) }
        }
    }

    /// A short range more often than a long one.
    private mutating func range(in input: [UInt8]) -> Range<Int> {
        let start = Int.random(in: 0...input.count, using: &generator)
        let most = min(input.count - start, 1 << Int.random(in: 0..<7, using: &generator))
        return start..<start + Int.random(in: 0...most, using: &generator)
    }

    /// SplitMix64 (Steele, Lea and Flood, 2014).
    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }
    }
}
