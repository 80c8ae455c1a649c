import Glibc

/// A place where a test double waits until the test lets it go on: time stands still there, and nobody has to guess how
/// long something takes.
///
/// Underneath is a pipe whose writing end is closed to open the gate, so that a double can wait for its gate and watch
/// its connection in one `poll`.
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

    /// Lets everybody through, now and later.
    public func open() {
        let end = state.withLock { $0.writingEnd.take() }
        if let end { close(end) }
    }

    /// Waits until `count` have come to the gate.
    @discardableResult
    public func reached(by count: Int = 1) async -> Bool {
        await state.wait { $0.arrivals >= count }
    }

    /// Waits at the gate, on a thread that may be blocked.
    public func pass() {
        noteArrival()
        var watched = pollfd(fd: readingEnd, events: Int16(POLLIN), revents: 0)
        while poll(&watched, 1, -1) < 0, errno == EINTR {}
    }

    func noteArrival() {
        state.withLock { $0.arrivals += 1 }
    }
}
