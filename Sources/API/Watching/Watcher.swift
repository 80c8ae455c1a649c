import Base

/// Waits in the feed for a change of its topics.
protocol TopicObserver: AnyObject, Sendable {
    var topics: [Topic] { get }

    /// A topic may have changed.
    func notify()
    /// The deadline has passed.
    func expire()
    /// The wait is over: the client disconnected, or the service stops.
    func close()
}

/// A task that waits for a change. A notification that comes while the watcher is awake is kept. So a change between its last
/// read and its sleep wakes it at once.
final class Watcher: TopicObserver {
    enum Waking: Sendable {
        case notified
        case overdue
        case closed
    }

    private enum State {
        case awake
        case woken(Waking)
        case asleep(CheckedContinuation<Waking, Never>)
        case closed
    }

    let topics: [Topic]
    private let state = Locked(State.awake)

    init(of topics: [Topic]) { self.topics = topics }

    func notify() { wake(.notified) }
    func expire() { wake(.overdue) }

    /// Ends the present sleep, and every later one at once.
    func close() {
        let sleeper: CheckedContinuation<Waking, Never>? = state.withLock { state in
            defer { state = .closed }
            return if case .asleep(let sleeper) = state { sleeper } else { nil }
        }
        sleeper?.resume(returning: .closed)
    }

    /// Sleeps until the watcher is notified, expired or closed, or the task is cancelled. Only one task may sleep at a
    /// time.
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
            // A change takes precedence over the deadline: a watcher that gets both reads the state.
            case .woken: state = .woken(.notified)
            case .closed: break
            }
            return nil
        }
        sleeper?.resume(returning: waking)
    }
}

/// A request that waits for a change, without a task.
///
/// A task that waits costs about 12 KiB, and ten thousand of them that wake at once cost more than their responses. A long
/// poll is a value in the feed. A change calls `check`, on the task of the pump, and most checks respond from memory. Checks
/// may overlap, because only the first response counts.
final class LongPoll: TopicObserver {
    enum CheckResult {
        case response(CachedResponse)
        case keepWaiting
        /// Memory does not have the response.
        case askStore
    }

    struct Wait: Sendable {
        let topics: [Topic]
        let duration: Duration
        /// Must not block. The last check of a request finds a response, or asks the store.
        let check: @Sendable (_ isLast: Bool) -> CheckResult
        /// Returns nil to keep waiting, except in the last check.
        let askStore: @Sendable (_ isLast: Bool) async throws -> CachedResponse?
    }

    private let wait: Wait
    private let settle: @Sendable (CachedResponse) -> Void

    var topics: [Topic] { wait.topics }

    init(_ wait: Wait, settle: @escaping @Sendable (CachedResponse) -> Void) {
        self.wait = wait
        self.settle = settle
    }

    func notify() { check(isLast: false) }
    func expire() { check(isLast: true) }
    func close() { check(isLast: true) }

    private func check(isLast: Bool) {
        switch wait.check(isLast) {
        case .response(let response): settle(response)
        case .keepWaiting: break
        case .askStore:
            Task { [wait, settle] in
                do {
                    if let response = try await wait.askStore(isLast) { settle(response) }
                } catch {
                    settle(.response(Problem(error).response))
                }
            }
        }
    }
}
