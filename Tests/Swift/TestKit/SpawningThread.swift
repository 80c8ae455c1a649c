import Dispatch

/// The one thread that starts child processes, for the lifetime of the tests.
///
/// The kernel ties a child's life (`PR_SET_PDEATHSIG`) to the thread that started it, not to the process, and Swift's
/// threads come and go.
enum SpawningThread {
    private static let requests = Monitor<[@Sendable () -> Void]>([])
    private static let bell: DispatchSemaphore = {
        let bell = DispatchSemaphore(value: 0)
        detachThread {
            while true {
                bell.wait()
                let request = requests.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                request?()
            }
        }
        return bell
    }()

    /// Runs `body` on the thread and returns when it has finished.
    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
            requests.withLock { $0.append { continuation.resume(with: Result(catching: body)) } }
            bell.signal()
        }
    }
}
