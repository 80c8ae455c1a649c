import Glibc

/// State that test doubles share with the test. The test can wait until a condition on it holds, and never sleeps for a
/// guessed time.
public final class Monitor<State: Sendable>: @unchecked Sendable {
    private struct Waiter {
        let id: Int
        let isSatisfied: @Sendable (State) -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    // A pthread mutex, as ThreadSanitizer reports false races inside the standard library's.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var state: State
    private var waiters: [Waiter] = []
    private var lastID = 0

    public init(_ state: State) {
        self.state = state
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Reads or changes the state, and wakes waiters whose condition it may satisfy.
    @discardableResult
    public func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        let result = body(&state)
        let satisfied = takeWaiters { $0.isSatisfied(state) }
        pthread_mutex_unlock(mutex)
        for waiter in satisfied { waiter.continuation.resume(returning: true) }
        return result
    }

    public var current: State {
        withLock { $0 }
    }

    /// Waits until the condition holds. Returns false if it does not hold after `timeout`, which only failing tests
    /// reach.
    public func wait(
        atMost timeout: Duration = .patience, until isSatisfied: @escaping @Sendable (State) -> Bool
    ) async -> Bool {
        let id = withLock { _ in
            lastID += 1
            return lastID
        }
        let alarm = Task {
            try await Task.sleep(for: timeout)
            self.giveUp(id)
        }
        defer { alarm.cancel() }
        return await withCheckedContinuation { continuation in
            let waiter = Waiter(id: id, isSatisfied: isSatisfied, continuation: continuation)
            withLock { _ in waiters.append(waiter) }
        }
    }

    private func giveUp(_ id: Int) {
        pthread_mutex_lock(mutex)
        let late = takeWaiters { $0.id == id }
        pthread_mutex_unlock(mutex)
        for waiter in late { waiter.continuation.resume(returning: false) }
    }

    private func takeWaiters(where isTaken: (Waiter) -> Bool) -> [Waiter] {
        let taken = waiters.filter(isTaken)
        if !taken.isEmpty { waiters.removeAll(where: isTaken) }
        return taken
    }
}
