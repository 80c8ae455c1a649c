import TestKit
import Testing

@testable import Base

@Suite struct AsyncGateTests {
    @Test func letsOnlyAFewInsideAtATime() async throws {
        let gate = AsyncGate(width: 2)
        let inside = Locked((now: 0, most: 0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    try await gate.pass(for: "a") {
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
            try await gate.pass(for: "a") {
                begin.yield()
                try? await Task.sleep(for: .seconds(600))
            }
        }
        for await _ in moments { break }
        let waiting = Task { try await gate.pass(for: "a") {} }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        holder.cancel()
        try await gate.pass(for: "a") {}
    }

    @Test func anErrorFreesThePlace() async throws {
        struct Failure: Error {}
        let gate = AsyncGate(width: 1)
        await #expect(throws: Failure.self) { try await gate.pass(for: "a") { throw Failure() } }
        try await gate.pass(for: "a") {}
    }

    /// Many tasks of one holder delay those of another by one task.
    @Test func theHolderWithTheFewestTasksInsideIsNext() async throws {
        let gate = AsyncGate(width: 2)
        let order = Locked<[String]>([])
        let (moments, begin) = AsyncStream<Void>.makeStream()
        let inside = (0..<2).map { _ in
            Task {
                try await gate.pass(for: "busy") {
                    begin.yield()
                    try? await Task.sleep(for: .seconds(600))
                }
            }
        }
        var begun = moments.makeAsyncIterator()
        for _ in inside { await begun.next() }
        var waiting: [Task<Void, any Error>] = []
        for holder in ["busy", "busy", "quiet"] {
            waiting.append(Task { try await gate.pass(for: holder) { order.withLock { $0.append(holder) } } })
            let count = waiting.count
            _ = try await eventually("the task to wait") { gate.waitingCount == count ? true : nil }
        }
        inside[0].cancel()
        for task in waiting { try await task.value }
        #expect(order.withLock { $0 } == ["quiet", "busy", "busy"])
        inside[1].cancel()
    }
}
