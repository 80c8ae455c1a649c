import Testing

@testable import Client

/// Which command runs next.
@Suite struct HookQueueTests {
    private func event(_ id: Int64, _ session: String = "a") -> HookEvent {
        HookEvent(id: id, session: session, type: "job.succeeded", job: nil, path: nil, document: [])
    }

    @Test func runsTheEventsOfASessionInOrder() {
        var queue = HookQueue(concurrency: 8, attempts: 3)
        queue.add([event(1), event(2), event(3, "b"), event(4)])
        #expect(queue.next(at: 0)?.id == 1)
        #expect(queue.next(at: 0)?.id == 3)
        #expect(queue.next(at: 0) == nil)
        #expect(queue.end(of: "a", .exited(0), at: 0, jitter: 1) == .done)
        #expect(queue.next(at: 0)?.id == 2)
        #expect(queue.end(of: "b", .exited(0), at: 0, jitter: 1) == .done)
        #expect(queue.end(of: "a", .exited(0), at: 0, jitter: 1) == .done)
        #expect(queue.next(at: 0)?.id == 4)
        #expect(queue.running == 1 && queue.count == 1)
    }

    @Test func runsSomeAtATime() {
        var queue = HookQueue(concurrency: 2, attempts: 3)
        queue.add([event(1), event(2, "b"), event(3, "c")])
        #expect(queue.next(at: 0)?.id == 1)
        #expect(queue.next(at: 0)?.id == 2)
        #expect(queue.next(at: 0) == nil)
        #expect(queue.end(of: "b", .exited(0), at: 0, jitter: 0) == .done)
        #expect(queue.next(at: 0)?.id == 3)
    }

    /// Each end of a command, with the failures before it and the verdict for three attempts.
    @Test(
        arguments: [
            (.exited(0), 0, .done), (.exited(0), 2, .done), (.exited(75), 0, .delayed(seconds: 1)),
            (.exited(75), 2, .delayed(seconds: 4)), (.exited(1), 0, .failed(1, seconds: 1)),
            (.exited(1), 1, .failed(2, seconds: 2)), (.exited(1), 2, .givenUp),
            (.killed(signal: 9), 0, .failed(1, seconds: 1)),
            (.killed(signal: 9), 2, .givenUp), (.notStarted(11), 0, .failed(1, seconds: 1)),
            (.notStarted(11), 2, .givenUp),
        ] as [(HookEnd, Int, HookQueue.Verdict)])
    func everyEndHasAVerdict(_ end: HookEnd, _ failures: Int, _ expected: HookQueue.Verdict) {
        var queue = HookQueue(concurrency: 1, attempts: 3)
        queue.add([event(1), event(2)])
        for _ in 0..<failures {
            #expect(queue.next(at: 1000) != nil)
            _ = queue.end(of: "a", .exited(1), at: 0, jitter: 1)
        }
        #expect(queue.next(at: 1000)?.id == 1)
        #expect(queue.end(of: "a", end, at: 1000, jitter: 1) == expected)
        let isOver = expected == .done || expected == .givenUp
        #expect(queue.next(at: 1000)?.id == (isOver ? 2 : nil))
    }

    @Test func waitsBeforeItTriesAgain() {
        var queue = HookQueue(concurrency: 1, attempts: 3)
        queue.add([event(1), event(2, "b")])
        #expect(queue.next(at: 10)?.id == 1)
        #expect(queue.end(of: "a", .exited(2), at: 10, jitter: 0) == .failed(1, seconds: 0.5))
        // The others do not wait.
        #expect(queue.next(at: 10)?.id == 2)
        #expect(queue.end(of: "b", .exited(0), at: 10, jitter: 0) == .done)
        #expect(queue.next(at: 10) == nil && queue.nextTry == 10.5)
        #expect(queue.next(at: 10.5)?.id == 1)
        #expect(queue.nextTry == nil)
    }

    @Test func delaysGrowToFiveMinutes() {
        #expect(
            (1...12).map { HookQueue.delay(afterTries: $0, jitter: 1) } == [
                1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300,
            ])
        #expect(HookQueue.delay(afterTries: 1000, jitter: 0) == 150)
    }
}
