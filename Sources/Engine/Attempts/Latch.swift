import Downloads

/// Opens once; whoever waits goes on.
final class Latch: Sendable {
    private enum State {
        case closed([CheckedContinuation<Void, Never>])
        case open
    }

    private let state = Locked(State.closed([]))

    func open() {
        let waiters: [CheckedContinuation<Void, Never>] = state.withLock { state in
            guard case .closed(let waiters) = state else { return [] }
            state = .open
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                guard case .closed(let waiters) = state else { return true }
                state = .closed(waiters + [continuation])
                return false
            }
            if isOpen { continuation.resume() }
        }
    }
}
