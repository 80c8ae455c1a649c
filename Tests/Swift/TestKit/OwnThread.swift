import Dispatch
import Testing

/// Runs a test on a thread of its own, so that it may call functions that block: Swift's threads must not wait.
public struct OwnThread: TestTrait, SuiteTrait, TestScoping {
    public let isRecursive = true

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await Self.run { try await function() }
    }

    /// Runs a part of a test on another thread of its own, beside the test.
    public static func run<Value: Sendable>(
        _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withTaskExecutorPreference(ThreadExecutor()) { try await body() }
    }
}

extension Trait where Self == OwnThread {
    public static var onItsOwnThread: Self { OwnThread() }
}

/// A serial queue: concurrent queues share their threads with Swift's tasks.
private final class ThreadExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "test thread")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
