import Locks

/// A response that a suspended connection waits for.
///
/// Three callers may arrive in any order: the work with its response, the sweep or the stop with a substitute, and the
/// network thread that suspends the connection. The first response is sent, and later ones are dropped. The connection
/// is resumed exactly once.
final class PendingResponse: Sendable {
    private struct State: ~Copyable {
        var response: Response?
        var isSettled = false
        /// Present while the connection is suspended.
        var suspension: SuspendedConnection?
        var work: Task<Void, Never>?
    }

    /// The head of the request.
    let head: RequestHead
    private let state = Locked(State())

    init(to head: RequestHead) { self.head = head }

    /// Suspends the connection. Returns false if the response is already there. Must be called within a callback of the
    /// connection.
    func suspend(_ handle: OpaquePointer) -> Bool {
        state.withLock { state in
            guard !state.isSettled else { return false }
            state.suspension = SuspendedConnection(of: handle)
            return true
        }
    }

    /// Starts the work that produces the response.
    func begin(_ work: @escaping @Sendable () async -> Response) {
        let task = Task { self.settle(with: await work()) }
        let isLate = state.withLock { state in
            if !state.isSettled { state.work = task }
            return state.isSettled
        }
        if isLate { task.cancel() }
    }

    /// Sets the response, unless it is already set.
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
        // This has no effect if the work itself has set the response.
        work?.cancel()
        if isTooLate { response.abandon() }
    }

    /// Cancels the work, because the client has disconnected. The work may still respond, or the sweep may end the
    /// wait.
    func cancelWork() {
        state.withLock { $0.work }?.cancel()
    }

    /// Removes and returns the response; nil if none is set.
    func take() -> Response? {
        state.withLock { $0.response.take() }
    }
}

extension Response {
    /// Notifies the owner of a stream that it will not be read.
    func abandon() {
        if case .stream(let stream) = body { stream.abandon() }
    }
}
