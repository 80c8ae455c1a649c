import CCurl
import Glibc

/// Threads of this module's own: nobody joins them, and no signal is handled on them.
enum DetachedThread {
    /// - Parameter stackBytes: nil for the system's usual size.
    /// - Returns: 0, or why there is no such thread (an errno).
    static func start(stackBytes: Int? = nil, _ body: @escaping @Sendable () -> Void) -> Int32 {
        let context = Unmanaged.passRetained(ThreadBody(body))
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

    /// Names the calling thread, for tools; the kernel keeps 15 bytes.
    static func name(_ name: String) {
        ccurl_name_thread(name)
    }

    /// A thread inherits the mask of its maker. Signals are for the program's own threads: these would only have their
    /// sleep broken, and must not die of a SIGPIPE.
    private static func withSignalsBlocked<Result>(_ body: () -> Result) -> Result {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        // Faults are a thread's own: blocked, they would kill the process without a word from the crash handler.
        for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT] { sigdelset(&all, fault) }
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        return body()
    }
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}

private func runThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
