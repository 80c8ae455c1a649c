import CLinux
import Glibc

/// Starts threads for blocking work, which must not run on the threads of Swift's tasks. No code joins these threads.
/// They receive no signals except those of faults.
public enum DetachedThread {
    /// - Parameters:
    ///   - name: the name that `ps -L` and debuggers show. The kernel keeps the first 15 bytes.
    ///   - stackBytes: nil for the system's default, usually 8 MiB.
    /// - Returns: 0, or the error number of `pthread_create`. `body` does not run after an error.
    public static func start(
        named name: String, stackBytes: Int? = nil, _ body: @escaping @Sendable () -> Void
    ) -> Int32 {
        let context = Unmanaged.passRetained(
            ThreadBody {
                linux_name_thread(name)
                body()
            })
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        if let stackBytes { pthread_attr_setstacksize(&attributes, stackBytes) }
        var thread = pthread_t()
        let failure = withSignalsBlocked { pthread_create(&thread, &attributes, runThread, context.toOpaque()) }
        if failure != 0 { context.release() }
        return failure
    }

    /// A new thread inherits the signal mask of its creator. The program's own threads handle signals. In these threads
    /// a signal would only interrupt system calls, and SIGPIPE would end the process.
    private static func withSignalsBlocked<Result>(_ body: () -> Result) -> Result {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        // If a fault is blocked, the kernel kills the process before the crash handler can report it.
        for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT] { sigdelset(&all, fault) }
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        return body()
    }
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

private func runThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let context { Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run() }
    return nil
}

/// Detects pauses of a thread that waits for peers, so that a peer is not held to be late when the thread was.
///
/// A time limit for a peer also measures the thread that reads from the peer. After a pause of the process, of the machine
/// or of its processors, every limit can have passed, while the bytes of the peers wait to be read or are still on their
/// way. So a thread that began a turn late applies no limit for `length`.
///
/// A grace does not begin during another one, or for `length` after it. So a thread that is always late applies the
/// limits at least half of the time.
public struct PauseDetector: Sendable {
    public typealias Instant = ContinuousClock.Instant

    /// A turn that begins later than planned by more than this is late.
    public static let tolerance = Duration.seconds(1)
    /// The time for the bytes of the peers to arrive, also by a retransmission.
    public static let length = Duration.seconds(5)

    private var lastEnd: Instant?

    public init() {}

    /// The thread begins a turn.
    ///
    /// - Parameter planned: the latest time at which the turn was to begin.
    public mutating func beganTurn(at now: Instant, planned: Instant) {
        guard now - planned > Self.tolerance else { return }
        if let lastEnd, now < lastEnd + Self.length { return }
        lastEnd = now + Self.length
    }

    /// The end of the grace that applies at `now`; nil if the limits apply.
    public func end(at now: Instant) -> Instant? { lastEnd.flatMap { now < $0 ? $0 : nil } }
}
