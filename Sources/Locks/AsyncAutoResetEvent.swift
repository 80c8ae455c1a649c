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
