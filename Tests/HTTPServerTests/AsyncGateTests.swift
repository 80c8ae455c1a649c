import Locks
import Testing

@Suite struct AsyncGateTests {
    @Test func letsOnlyAFewInsideAtATime() async throws {
        let gate = AsyncGate(width: 2)
        let inside = Locked((now: 0, most: 0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    try await gate.pass {
                        inside.withLock { inside in
                            inside.now += 1
                            inside.most = max(inside.most, inside.now)
                        }
                        await Task.yield()
                        inside.withLock { $0.now -= 1 }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(inside.withLock { $0.most } <= 2 && inside.withLock { $0.now } == 0)
    }

    @Test func aCancelledTaskGivesUpItsTurn() async throws {
        let gate = AsyncGate(width: 1)
        let (moments, begin) = AsyncStream<Void>.makeStream()
        let holder = Task {
            try await gate.pass {
                begin.yield()
                try? await Task.sleep(for: .seconds(600))
            }
        }
        for await _ in moments { break }
        let waiting = Task { try await gate.pass {} }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        holder.cancel()
        try await gate.pass {}
    }

    @Test func anErrorFreesThePlace() async throws {
        struct Failure: Error {}
        let gate = AsyncGate(width: 1)
        await #expect(throws: Failure.self) { try await gate.pass { throw Failure() } }
        try await gate.pass {}
    }
}
