import Downloads
import Foundation
import Locks

/// Wakes the one custodian of a kind of work when a commit has made some of it due, or when its time has come.
///
/// A ring while nobody waits is kept: work that comes between a look and the wait is never slept over.
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

    /// Returns at the next ring, at `deadline`, or when the task is cancelled; now and then without cause. One waiter at a time.
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
