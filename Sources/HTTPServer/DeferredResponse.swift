import Base

/// A response that a suspended connection waits for.
///
/// Three callers may arrive in any order: the owner with its response, the sweep or the stop with a substitute, and the
/// network thread that suspends the connection. The first response is sent, and later ones are dropped. The connection
/// is resumed exactly once.
public final class DeferredResponse: Sendable {
    enum Settlement {
        case response(Response)
        case prepared(PreparedResponse)

        func abandon() { if case .response(let response) = self { response.abandon() } }
    }

    private struct Owner {
        let settled: @Sendable () -> Void
        let disconnected: @Sendable () -> Void
    }

    private struct State: ~Copyable {
        var settlement: Settlement?
        var isSettled = false
        /// Present while the connection is suspended.
        var suspension: SuspendedConnection?
        var owner: Owner?
    }

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

    func begin(_ work: @escaping @Sendable () async -> Response) {
        let task = Task { self.settle(with: await work()) }
        // The cancellation has no effect if the work itself has set the response.
        observe(onDisconnect: { task.cancel() }, onSettled: { task.cancel() })
    }

    /// Sets the functions of the owner.
    ///
    /// - Parameters:
    ///   - onDisconnect: called if the client disconnects before the response is settled. The response must be settled
    ///     soon after that.
    ///   - onSettled: called once, by the thread that settles the response, or at once if it is settled.
    public func observe(onDisconnect: @escaping @Sendable () -> Void, onSettled: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            if !state.isSettled { state.owner = Owner(settled: onSettled, disconnected: onDisconnect) }
            return state.isSettled
        }
        if isLate { onSettled() }
    }

    /// Sets the response, unless it is already set. Any thread may call it.
    public func settle(with response: Response) { settle(with: .response(response)) }

    /// Sets the response, unless it is already set. Any thread may call it.
    public func settle(with prepared: PreparedResponse) { settle(with: .prepared(prepared)) }

    private func settle(with settlement: Settlement) {
        let (owner, isTooLate): (Owner?, Bool) = state.withLock { state in
            guard !state.isSettled else { return (nil, true) }
            state.isSettled = true
            state.settlement = settlement
            state.suspension.take()?.resume()
            return (state.owner.take(), false)
        }
        owner?.settled()
        if isTooLate { settlement.abandon() }
    }

    /// The client has disconnected. The owner may still respond, or the sweep may end the wait.
    func clientDisconnected() { state.withLock { $0.owner }?.disconnected() }

    /// Removes and returns the response; nil if none is set.
    func take() -> Settlement? { state.withLock { $0.settlement.take() } }
}

extension Response {
    /// Notifies the owner of a stream that it will not be read.
    func abandon() { if case .stream(let stream) = body { stream.abandon() } }
}
