import Base
import Foundation
import Storage
import TestKit
import Testing

@testable import Engine

/// When a background worker's next pass begins: at the moment that it asked for, at a ring, after a failure.
@Suite struct MaintenanceLoopTests {
    private let time = ManualTime()
    private let log = LogRecord()
    private let passes = Monitor(0)

    private func worker(
        _ trigger: AsyncAutoResetEvent? = nil, if mayBegin: @escaping @Sendable () -> Bool = { true },
        _ body: @escaping @Sendable () throws -> Date?
    ) -> MaintenanceWorker {
        MaintenanceWorker("do the work", on: trigger, if: mayBegin) { [passes] in
            passes.withLock { $0 += 1 }
            return try body()
        }
    }

    private struct Refusal: Error, CustomStringConvertible { let description = "the disk is full" }

    /// Runs the loop beside `test`, and cancels it then.
    private func running(
        _ trigger: AsyncAutoResetEvent? = nil, _ body: @escaping @Sendable () throws -> Date?,
        _ test: () async throws -> Void
    ) async throws {
        let loop = MaintenanceLoop(time: time, log: log.logger, retryInterval: 5)
        let worker = worker(trigger, body)
        try await withThrowingTaskGroup { group in
            group.addTask { await loop.run(worker) }
            do { try await test() } catch {
                group.cancelAll()
                throw error
            }
            group.cancelAll()
        }
    }

    @Test func beginsTheNextPassAtTheMomentThatTheWorkerAskedFor() async throws {
        try await running { [time] in
            time.now.addingTimeInterval(10)
        } _: {
            #expect(await time.waitForSleepers())
            time.advance(by: 9.9)
            #expect(passes.current == 1)
            time.advance(by: 0.1)
            #expect(await passes.wait { $0 == 2 })
        }
    }

    @Test func beginsTheNextPassWhenTheTriggerRings() async throws {
        let trigger = AsyncAutoResetEvent()
        try await running(trigger) {
            nil
        } _: {
            #expect(await passes.wait { $0 == 1 })
            trigger.set()
            #expect(await passes.wait { $0 == 2 })
            #expect(time.deadlines.isEmpty)
        }
    }

    @Test func logsAFailedPassAndRepeatsItAfterTheRetryInterval() async throws {
        try await running {
            throw Refusal()
        } _: {
            #expect(await time.waitForSleepers())
            #expect(log.text.contains("Could not do the work: the disk is full. fetchd tries again in 5 seconds."))
            time.advance(by: 4.9)
            #expect(passes.current == 1)
            time.advance(by: 0.1)
            #expect(await passes.wait { $0 == 2 })
        }
    }

    @Test func logsRepeatedFailuresOnceAMinuteAndTheirEnd() async throws {
        let fails = Monitor(true)
        try await running {
            if fails.current { throw Refusal() }
            return nil
        } _: {
            // The passes begin at 0, 5, ..., 60 seconds.
            for pass in 1...13 {
                #expect(await passes.wait { $0 == pass })
                #expect(await time.waitForSleepers())
                if pass < 13 { time.advance(by: 5) }
            }
            let lines = log.text.split(separator: "\n")
            #expect(lines.count == 2, "\(log.text)")
            #expect(lines.last?.hasSuffix("in 5 seconds. (12 failures since the last such line)") == true)
            fails.withLock { $0 = false }
            time.advance(by: 5)
            #expect(await passes.wait { $0 == 14 })
            #expect(await time.waitForSleepers())
            #expect(log.text.hasSuffix("fetchd can do the work again."))
        }
    }

    @Test func workThatNeedsTheLeaseBeginsWhenTheNodeHasIt() async throws {
        let hasLease = Locked(false)
        let loop = MaintenanceLoop(time: time, log: log.logger, retryInterval: 5)
        let worker = worker(if: { hasLease.withLock(\.self) }) { nil }
        await withTaskGroup { group in
            group.addTask { await loop.run(worker) }
            #expect(await time.waitForSleepers())
            #expect(passes.current == 0)
            hasLease.withLock { $0 = true }
            time.advance(by: 1)
            #expect(await passes.wait { $0 == 1 })
            group.cancelAll()
        }
    }

    @Test func repeatsAFailedPassEarlierWhenTheTriggerRings() async throws {
        let trigger = AsyncAutoResetEvent()
        try await running(trigger) {
            throw Refusal()
        } _: {
            #expect(await time.waitForSleepers())
            trigger.set()
            #expect(await passes.wait { $0 == 2 })
        }
    }
}
