import Glibc

/// Shared mutable state that is accessible only while its lock is held.
///
/// It uses a pthread mutex instead of `Synchronization.Mutex`, because ThreadSanitizer reports false races inside the
/// latter. Mutex and value are allocated separately: a mutex must not move, and reflection (`dump`, test libraries) of
/// a stored property that cannot be copied ends the process.
public final class Locked<Value: ~Copyable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    public init(_ value: consuming sending Value) {
        self.value = .allocate(capacity: 1)
        self.value.initialize(to: value)
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        let failure = pthread_mutex_init(mutex, nil)
        precondition(failure == 0, "pthread_mutex_init: \(failure)")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
        value.deinitialize(count: 1)
        value.deallocate()
    }

    public func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}

/// Opens once and resumes every waiting task, for example when a thread or an attempt has ended.
public final class Latch: Sendable {
    private enum State {
        case closed([CheckedContinuation<Void, Never>])
        case open
    }

    private let state = Locked(State.closed([]))

    public init() {}

    public func open() {
        let waiting: [CheckedContinuation<Void, Never>] = state.withLock { state in
            guard case .closed(let waiting) = state else { return [] }
            state = .open
            return waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    public func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                guard case .closed(let waiting) = state else { return true }
                state = .closed(waiting + [continuation])
                return false
            }
            if isOpen { continuation.resume() }
        }
    }
}
