import Dispatch
import Foundation
import Glibc

/// The one thread that starts child processes, for the lifetime of the tests.
///
/// The kernel ties a child's life (`PR_SET_PDEATHSIG`) to the thread that started it, not to the process, and Swift's
/// threads come and go.
enum SpawningThread {
    private static let requests = Monitor<[@Sendable () -> Void]>([])
    private static let bell: DispatchSemaphore = {
        let bell = DispatchSemaphore(value: 0)
        detachThread {
            blockNoSignals()
            while true {
                bell.wait()
                let request = requests.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                request?()
            }
        }
        return bell
    }()

    /// A child inherits the signal mask, and Swift's threads, one of which created this one, block signals that should
    /// stop the child.
    private static func blockNoSignals() {
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
    }

    /// Runs `body` on the thread and returns when it has finished.
    static func run(_ body: @escaping @Sendable () throws -> Void) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            requests.withLock { $0.append { continuation.resume(with: Result(catching: body)) } }
            bell.signal()
        }
    }
}
