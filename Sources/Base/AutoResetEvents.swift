import Glibc

/// An event that one thread sets and another thread waits for. A wait that sees the event resets it.
///
/// Waits use the monotonic clock, so a change of the wall clock neither ends nor prolongs them. Tasks must use
/// `AsyncAutoResetEvent` instead, because `wait` blocks its thread.
public final class AutoResetEvent: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var isSet = false

    public init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        condition = .allocate(capacity: 1)
        condition.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// The event stays set until a wait sees it.
    public func set() {
        pthread_mutex_lock(mutex)
        isSet = true
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Blocks the thread until the event is set.
    public func wait() {
        pthread_mutex_lock(mutex)
        while !isSet { pthread_cond_wait(condition, mutex) }
        isSet = false
        pthread_mutex_unlock(mutex)
    }

    /// Blocks the thread until the event is set, or until `duration` has passed.
    ///
    /// - Returns: whether the event was set.
    @discardableResult public func wait(atMost duration: Duration) -> Bool {
        var end = timespec()
        clock_gettime(CLOCK_MONOTONIC, &end)
        let (seconds, attoseconds) = max(duration, .zero).components
        let nanoseconds = end.tv_nsec + Int(attoseconds / 1_000_000_000)
        end.tv_sec += Int(min(seconds, 1 << 31)) + nanoseconds / 1_000_000_000
        end.tv_nsec = nanoseconds % 1_000_000_000
        pthread_mutex_lock(mutex)
        while !isSet, pthread_cond_timedwait(condition, mutex, &end) == 0 {}
        let wasSet = isSet
        isSet = false
        pthread_mutex_unlock(mutex)
        return wasSet
    }
}

/// An event that any thread sets and one task waits for. A wait that sees the event resets it.
///
/// The event stays set while no task waits. So a task that checks for work and then waits does not miss work that comes
/// between the check and the wait.
public final class AsyncAutoResetEvent: Sendable {
    private enum State {
        case reset
        case isSet
        case awaited(CheckedContinuation<Void, Never>)
    }

    private let state = Locked(State.reset)

    public init() {}

    /// Resumes the task that waits, or keeps the event set until a task waits.
    public func set() {
        let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
            if case .awaited(let waiter) = state {
                state = .reset
                return waiter
            }
            state = .isSet
            return nil
        }
        waiter?.resume()
    }

    /// Returns after the event is set, or when the task is cancelled. It may also return without a cause. Only one task
    /// may wait at a time.
    public func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isSet = state.withLock { state in
                    if case .isSet = state {
                        state = .reset
                        return true
                    }
                    state = .awaited(continuation)
                    return false
                }
                if isSet { continuation.resume() }
            }
        } onCancel: {
            set()
        }
    }
}
