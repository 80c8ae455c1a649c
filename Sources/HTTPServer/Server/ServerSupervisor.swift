// The server's own thread, beside the library's: it enforces the time limits and, in the end, brings the server down.
//
// Stopping blocks (it joins threads), so it may not happen on a thread of the concurrency runtime; and the limits must
// be enforced while a stop waits for the last answers. One thread for both needs no coordination.

import Locks

/// Makes its rounds until it is told to stop, and owns the daemon meanwhile.
final class ServerSupervisor: Sendable {
    private struct State {
        var grace: Duration?
        var hasStopped = false
        var onStopped: [@Sendable () -> Void] = []
    }

    fileprivate let context: ServerContext
    private let state = Locked(State())

    init(_ context: ServerContext) {
        self.context = context
    }

    /// Starts the thread, which takes the daemon over.
    func start(_ daemon: consuming MHDDaemon) throws(HTTPServerError) {
        try context.disconnects.start()
        nonisolated(unsafe) let run = SupervisorRun(self, daemon)
        let failure = DetachedThread.start(named: "http.supervisor") { run.untilStopped() }
        guard failure == 0 else {
            context.disconnects.stop()
            throw .systemCallFailed("pthread_create", errno: failure)
        }
    }

    /// Asks for a stop; the first grace asked for counts. `onStopped` is called when everything is closed.
    func stop(grace: Duration, onStopped: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if state.grace == nil { state.grace = grace }
            if !state.hasStopped { state.onStopped.append(onStopped) }
            return state.hasStopped
        }
        isOver ? onStopped() : context.wake.set()
    }

    fileprivate var requestedGrace: Duration? { state.withLock { $0.grace } }

    fileprivate func noteStopped() {
        let waiting = state.withLock { state in
            state.hasStopped = true
            defer { state.onStopped = [] }
            return state.onStopped
        }
        for onStopped in waiting { onStopped() }
    }
}

/// What happens on the thread.
private final class SupervisorRun {
    private let supervisor: ServerSupervisor
    private let context: ServerContext
    private var daemon: MHDDaemon?
    private var nextSweep = Connection.Instant.now
    private var trimPolicy = MemoryTrimPolicy()

    init(_ supervisor: ServerSupervisor, _ daemon: consuming MHDDaemon) {
        self.supervisor = supervisor
        self.daemon = consume daemon
        context = supervisor.context
    }

    func untilStopped() {
        while supervisor.requestedGrace == nil { makeRound(atMost: .seconds(1)) }
        close(grace: supervisor.requestedGrace ?? .zero)
        daemon = nil
        context.disconnects.stop()
        context.lingering.closeAll()
        supervisor.noteStopped()
    }

    /// Afterwards no connection sleeps, nor will one: the daemon may be stopped.
    private func close(grace: Duration) {
        context.connections.beginClosing()
        makeRoundsUntilEmpty(atMost: grace)
        context.connections.cutShort { context.handler.malformed(.stopping, $0) }
        makeRoundsUntilEmpty(atMost: Self.lastWords)
    }

    private func makeRoundsUntilEmpty(atMost limit: Duration) {
        let end = Connection.Instant.now + limit
        while !context.connections.isEmpty, .now < end { makeRound(atMost: end - .now) }
    }

    /// Sleeps until something is to be done, and does it.
    private func makeRound(atMost limit: Duration) {
        let pause = context.lingering.isEmpty ? nextSweep - .now : LingeringSockets.interval
        context.wake.wait(atMost: min(limit, pause))
        let now = Connection.Instant.now
        context.lingering.drain(at: now)
        guard nextSweep <= now else { return }
        context.connections.expire(at: now, limits: context.options) { context.handler.malformed(.answerOverdue, $0) }
        if trimPolicy.shouldTrim(connections: context.connections.count) { MemoryTrimPolicy.trim() }
        nextSweep = now + sweepInterval
    }

    /// A tenth of the shortest limit, so that none is overrun by more; but at most a hundred times and at least once a
    /// second.
    private var sweepInterval: Duration {
        let shortest = min(context.options.requestDeadline, context.options.waitLimit)
        return max(.milliseconds(10), min(.seconds(1), shortest / 10))
    }

    /// Time for the answers that a stop brings about to reach the clients that read them.
    private static let lastWords = Duration.seconds(1)
}
