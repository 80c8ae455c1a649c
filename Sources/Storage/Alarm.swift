import Downloads
import Foundation
import Locks

/// Wakes the one worker of a kind of work when a commit has made such work due, or at a deadline.
///
/// A ring is kept while the worker does not wait. So the worker never misses work that comes between its last look and
/// its wait.
public final class Alarm: Sendable {
    private enum State {
        case quiet
        case rung
        case waited(CheckedContinuation<Void, Never>)
    }

    private let state = Locked(State.quiet)

    public init() {}

    public func ring() {
        let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
            if case .waited(let waiter) = state {
                state = .quiet
                return waiter
            }
            state = .rung
            return nil
        }
        waiter?.resume()
    }

    /// Returns at the next ring, at `deadline`, or when the task is cancelled. It may return early without a cause.
    /// Only one task may wait at a time.
    public func wait(until deadline: Date?, by time: any TimeSource) async {
        let timer = deadline.map { deadline in
            Task {
                try await time.sleep(until: deadline)
                ring()
            }
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isRung = state.withLock { state in
                    if case .rung = state {
                        state = .quiet
                        return true
                    }
                    state = .waited(continuation)
                    return false
                }
                if isRung { continuation.resume() }
            }
        } onCancel: {
            ring()
        }
        timer?.cancel()
    }
}
