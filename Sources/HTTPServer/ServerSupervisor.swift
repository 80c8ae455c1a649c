import Base
import CLinux
import Glibc

/// Runs the thread that enforces the time limits and stops the server, and owns the daemon until then.
///
/// A stop blocks, because it joins threads, so it must not run on a thread of Swift tasks. The limits must also be
/// enforced while a stop waits for the last responses. One thread for both needs no coordination.
final class ServerSupervisor: Sendable {
    private struct State {
        var grace: Duration?
        var hasStopped = false
        var onStopped: [@Sendable () -> Void] = []
    }

    fileprivate let context: ServerContext
    private let state = Locked(State())

    init(_ context: ServerContext) { self.context = context }

    func start(_ listeners: consuming Listeners) throws(HTTPServerError) {
        try context.disconnects.start()
        nonisolated(unsafe) let run = SupervisorRun(self, listeners)
        let failure = DetachedThread.start(named: "http.supervisor") { run.untilStopped() }
        guard failure == 0 else {
            context.disconnects.stop()
            throw .systemCallFailed("pthread_create", errno: failure)
        }
    }

    /// Requests a stop. The grace of the first request counts. `onStopped` is called when everything is closed.
    func stop(grace: Duration, onStopped: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if state.grace == nil { state.grace = grace }
            if !state.hasStopped { state.onStopped.append(onStopped) }
            return state.hasStopped
        }
        isOver ? onStopped() : context.wake.set()
    }

    fileprivate var requestedGrace: Duration? { state.withLock { $0.grace } }

    fileprivate func recordStopped() {
        let waiting = state.withLock { state in
            state.hasStopped = true
            defer { state.onStopped = [] }
            return state.onStopped
        }
        for onStopped in waiting { onStopped() }
    }
}

private final class SupervisorRun {
    private let supervisor: ServerSupervisor
    private let context: ServerContext
    private var listeners: Listeners?
    private var nextSweep = Connection.Instant.now
    private var trimPolicy = MemoryTrimPolicy()
    /// Whether the last sweep found no connection.
    private var wasEmpty = true
    private var grace = PauseDetector()
    private var roundBegan = Connection.Instant.now

    init(_ supervisor: ServerSupervisor, _ listeners: consuming Listeners) {
        self.supervisor = supervisor
        self.listeners = consume listeners
        context = supervisor.context
    }

    func untilStopped() {
        while supervisor.requestedGrace == nil { isIdle ? waitForConnection() : makeRound(atMost: .seconds(1)) }
        close(grace: supervisor.requestedGrace ?? .zero)
        listeners = nil
        context.disconnects.stop()
        context.lingering.closeAll()
        supervisor.recordStopped()
    }

    /// Whether there is nothing to watch. A new connection wakes the thread.
    private var isIdle: Bool { context.connections.isEmpty && context.lingering.isEmpty && wasEmpty }

    private func waitForConnection() {
        context.wake.wait()
        wasEmpty = false
        roundBegan = .now
    }

    /// Afterwards no connection is suspended, and none will be, so the daemon can be stopped.
    private func close(grace: Duration) {
        context.connections.beginClosing()
        context.webSockets.stop()
        makeRoundsUntilEmpty(atMost: grace)
        context.connections.cutShort { context.handler.malformed(.stopping, $0) }
        makeRoundsUntilEmpty(atMost: Self.finalResponseTime)
    }

    private func makeRoundsUntilEmpty(atMost limit: Duration) {
        roundBegan = .now
        let end = roundBegan + limit
        while !context.connections.isEmpty, .now < end { makeRound(atMost: end - .now) }
    }

    private func makeRound(atMost limit: Duration) {
        let pause = max(.zero, min(limit, context.lingering.isEmpty ? nextSweep - .now : LingeringSockets.interval))
        context.wake.wait(atMost: pause)
        let now = Connection.Instant.now
        grace.beganTurn(at: now, planned: roundBegan + pause)
        roundBegan = now
        context.lingering.drain(at: now)
        guard nextSweep <= now else { return }
        if grace.end(at: now) == nil {
            context.connections.expire(at: now, limits: context.options) {
                context.handler.malformed(.answerOverdue, $0)
            }
        }
        if trimPolicy.shouldTrim(free: FreedMemory.freeBytes) { FreedMemory.giveBack() }
        wasEmpty = context.connections.isEmpty
        nextSweep = now + sweepInterval
    }

    /// A tenth of the shortest limit, so that no limit is exceeded by more; 10 ms to 1 s.
    private var sweepInterval: Duration {
        let options = context.options
        let shortest = min(options.headDeadline, options.bodyGrace, options.responseWindow, options.waitLimit)
        return max(.milliseconds(10), min(.seconds(1), shortest / 10))
    }

    /// The time for clients to read the responses that the stop has caused.
    private static let finalResponseTime = Duration.seconds(1)
}

/// The state of a server that its network threads share. The callbacks of the library find it by its address.
final class ServerContext: Sendable {
    let options: HTTPServer.Options
    let handler: any RequestHandler
    let connections = ConnectionSet()
    let lingering = LingeringSockets()
    let disconnects: DisconnectMonitor
    let bodies: BodyBudget
    let webSockets: WebSocketLoop
    /// Set when the supervisor has work before its next round.
    let wake = AutoResetEvent()

    init(options: HTTPServer.Options, handler: any RequestHandler) throws(HTTPServerError) {
        self.options = options
        self.handler = handler
        bodies = BodyBudget(bytes: options.maxBytesOfBodies)
        disconnects = try DisconnectMonitor()
        webSockets = try WebSocketLoop(limit: options.webSocketLimit, bodies: bodies)
    }

    /// The network whose number of connections is limited; nil without a limit.
    func limitedNetwork(_ address: UnsafePointer<sockaddr>?) -> ClientNetwork? {
        guard options.connectionsPerAddress > 0, let network = address.flatMap({ ClientNetwork($0) }),
            options.limitsLoopback || !network.isLoopback
        else { return nil }
        return network
    }

    /// Whether a client may connect. Its connection is counted a little later, on the same thread, so that each thread
    /// can exceed the limit by one.
    func admits(_ address: UnsafePointer<sockaddr>?) -> Bool {
        guard connections.stage == .open else { return false }
        guard let network = limitedNetwork(address) else { return true }
        return connections.count(of: network) < options.connectionsPerAddress
    }

    /// Adds a new connection. A connection that was accepted just before a stop is closed.
    func insert(_ connection: Connection) {
        if connections.insert(connection) { wake.set() }
        if connections.stage != .open { connection.abort() }
    }

    /// Removes a connection that is about to be closed. A stop waits for the last one.
    func remove(_ connection: Connection) {
        connections.remove(connection)
        if connections.stage != .open, connections.isEmpty { wake.set() }
    }

    func linger(on descriptor: Descriptor) {
        lingering.add(descriptor)
        wake.set()
    }
}

/// Decides when to return freed memory to the system.
///
/// After 10,000 waits, about 200 MiB are free; after 100,000 submissions, 60 MiB.
struct MemoryTrimPolicy {
    /// The fewest free bytes since the last time.
    private var lowest = Int.max

    /// - Parameter free: the free bytes in the heaps. Those that were returned still count.
    /// - Returns: true if much was in use since the last time, and is free now.
    mutating func shouldTrim(free: Int) -> Bool {
        lowest = min(lowest, free)
        guard free - lowest >= Self.much else { return false }
        lowest = free
        return true
    }

    /// In bytes.
    static let much = 16 << 20
}
