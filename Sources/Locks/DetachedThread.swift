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
        let context = Unmanaged.passRetained(ThreadBody(name: name, run: body))
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
    let name: String
    let run: @Sendable () -> Void

    init(name: String, run: @escaping @Sendable () -> Void) {
        self.name = name
        self.run = run
    }
}

private func runThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let body = Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue()
    linux_name_thread(body.name)
    body.run()
    return nil
}
