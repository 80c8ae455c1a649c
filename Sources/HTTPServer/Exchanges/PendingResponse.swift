import Locks

// The place where an eventual answer and the connection that waits for it meet.
//
// Three may arrive in any order: the work with its response, the clock (or a stop) with a substitute, and the network
// thread that puts the connection to sleep. The first response wins; the others are dropped. The connection is woken
// exactly once.

/// One answer that is being waited for.
final class PendingResponse: Sendable {
    private struct State: ~Copyable {
        var response: Response?
        var isSettled = false
        /// Present while the connection sleeps.
        var suspension: SuspendedConnection?
        var work: Task<Void, Never>?
    }

    /// What it answers.
    let head: RequestHead
    private let state = Locked(State())

    init(to head: RequestHead) { self.head = head }

    /// Puts the connection to sleep, unless the answer is there already: then it says false. Called within the
    /// connection's callbacks only.
    func suspend(_ handle: OpaquePointer) -> Bool {
        state.withLock { state in
            guard !state.isSettled else { return false }
            state.suspension = SuspendedConnection(of: handle)
            return true
        }
    }

    /// Starts the work that will settle the answer.
    func begin(_ work: @escaping @Sendable () async -> Response) {
        let task = Task { self.settle(with: await work()) }
        let isLate = state.withLock { state in
            if !state.isSettled { state.work = task }
            return state.isSettled
        }
        if isLate { task.cancel() }
    }

    /// Answers, unless somebody has answered before.
    func settle(with response: Response) {
        let work: Task<Void, Never>?
        let isTooLate: Bool
        (work, isTooLate) = state.withLock { state in
            guard !state.isSettled else { return (nil, true) }
            state.isSettled = true
            state.response = response
            state.suspension.take()?.resume()
            return (state.work.take(), false)
        }
        // Of no effect when it was the work itself that settled.
        work?.cancel()
        if isTooLate { response.abandon() }
    }

    /// Nobody waits for it any more. The work may still answer, or be cut short by the clock.
    func cancelWork() {
        state.withLock { $0.work }?.cancel()
    }

    /// The answer, once; nil while there is none.
    func take() -> Response? {
        state.withLock { $0.response.take() }
    }
}

extension Response {
    /// Tells the owner of a stream that nobody will read it.
    func abandon() {
        if case .stream(let stream) = body { stream.abandon() }
    }
}
