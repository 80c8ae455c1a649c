import Locks

/// Somebody who waits for something to happen: the bell beside his bed. A ring while he is awake is kept, so that what
/// happens between his look and his sleep is never slept over.
final class Watcher: Sendable {
    enum Waking: Sendable {
        /// Something may have happened.
        case rung
        /// The time is over.
        case overdue
        /// There is nothing to wait for any more: the client hung up, or the service stops.
        case closed
    }

    private enum State {
        case awake
        case woken(Waking)
        case asleep(CheckedContinuation<Waking, Never>)
        case closed
    }

    /// What he is rung for.
    let topics: [Topic]
    private let state = Locked(State.awake)

    init(of topics: [Topic]) { self.topics = topics }

    func ring() { wake(.rung) }
    func expire() { wake(.overdue) }

    /// Nothing wakes him any more, as he never sleeps again.
    func close() {
        let sleeper: CheckedContinuation<Waking, Never>? = state.withLock { state in
            defer { state = .closed }
            return if case .asleep(let sleeper) = state { sleeper } else { nil }
        }
        sleeper?.resume(returning: .closed)
    }

    /// Sleeps until he is woken, or the task is cancelled. One task at a time.
    func sleep() async -> Waking {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waking: Waking? = state.withLock { state in
                    switch state {
                    case .awake, .asleep:
                        state = .asleep(continuation)
                        return nil
                    case .woken(let waking):
                        state = .awake
                        return waking
                    case .closed: return .closed
                    }
                }
                if let waking { continuation.resume(returning: waking) }
            }
        } onCancel: {
            close()
        }
    }

    private func wake(_ waking: Waking) {
        let sleeper: CheckedContinuation<Waking, Never>? = state.withLock { state in
            switch state {
            case .asleep(let sleeper):
                state = .awake
                return sleeper
            case .awake: state = .woken(waking)
            // An update has precedence over the deadline: a watcher that gets both reads the state.
            case .woken: state = .woken(.rung)
            case .closed: break
            }
            return nil
        }
        sleeper?.resume(returning: waking)
    }
}
