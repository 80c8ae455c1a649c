import CCurl
import Glibc
import Locks

/// The thread under the loop.
extension TransferLoop {
    /// Hands the loop to a thread of its own. The caller must not touch it again.
    func startThread() throws(CurlClientError) {
        let context = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let failure = withSignalsBlocked { pthread_create(&thread, nil, runLoop, context.toOpaque()) }
        guard failure == 0 else {
            context.release()
            throw .systemCallFailed("pthread_create", errno: failure)
        }
        // Nobody joins it: `Latch` says when it is done.
        pthread_detach(thread)
    }

    /// A thread inherits the mask of its maker. Signals are for the program's own threads: this one would only have its
    /// sleep broken, and must not die of a SIGPIPE.
    private func withSignalsBlocked<Result>(_ body: () -> Result) -> Result {
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

/// Opens the latch only when the loop and all it owns are gone.
private func runLoop(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    runToEnd(context).open()
    return nil
}

private func runToEnd(_ context: UnsafeMutableRawPointer) -> Latch {
    let loop = Unmanaged<TransferLoop>.fromOpaque(context).takeRetainedValue()
    ccurl_name_thread(loop.name)
    loop.run()
    return loop.ended
}
