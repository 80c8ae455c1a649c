import Glibc

/// A gate at which a test double waits until the test opens it, so that no test guesses how long something takes.
///
/// It is a pipe whose write end is closed to open the gate, so that a double can wait for the gate and its connection
/// in one `poll`.
public final class Gate: Sendable {
    private struct State {
        var writingEnd: Int32?
        var arrivals = 0
    }

    let readingEnd: Int32
    private let state: Monitor<State>

    public init() {
        var ends: [Int32] = [-1, -1]
        precondition(pipe(&ends) == 0, "no pipe for a gate: errno \(errno)")
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        readingEnd = ends[0]
        state = Monitor(State(writingEnd: ends[1]))
    }

    deinit {
        open()
        close(readingEnd)
    }

    /// Opens the gate for present and future callers.
    public func open() {
        let end = state.withLock { $0.writingEnd.take() }
        if let end { close(end) }
    }

    /// Waits until `count` callers have reached the gate.
    @discardableResult
    public func reached(by count: Int = 1) async -> Bool {
        await state.wait { $0.arrivals >= count }
    }

    /// Waits for the gate to open, on a thread that may block.
    public func pass() {
        noteArrival()
        var watched = pollfd(fd: readingEnd, events: Int16(POLLIN), revents: 0)
        while poll(&watched, 1, -1) < 0, errno == EINTR {}
    }

    func noteArrival() {
        state.withLock { $0.arrivals += 1 }
    }
}
