// Compares the buffer of a stream with a plain array.

import Testing

@testable import HTTPServer

@Suite struct ByteQueueTests {
    @Test func behavesLikeAnArray() {
        var random = Seeded(state: 42)
        var queue = ByteQueue()
        var model: [UInt8] = []
        for _ in 0..<5_000 {
            if Bool.random(using: &random) {
                let more = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                queue.append(more)
                model += more
            } else {
                var buffer = [UInt8](repeating: 0, count: Int.random(in: 0...60, using: &random))
                let count = buffer.withUnsafeMutableBytes { queue.read(into: $0) }
                #expect(count == min(buffer.count, model.count))
                #expect(buffer.prefix(count) == model.prefix(count))
                model.removeFirst(count)
            }
            #expect(queue.count == model.count)
        }
    }
}

/// A generator with the same numbers in every run.
private struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 29
    }
}
