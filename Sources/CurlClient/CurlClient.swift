import Locks

/// The front door of the module: transfers go in from any thread, and what happens to them comes back on one.
///
/// One thread owns libcurl's multi handle and every easy handle. It sleeps in epoll, so that it costs what the active
/// transfers cost, not what the open ones would. Every call here only posts a command to that thread; none blocks.
///
/// The client knows requests, heads and bytes. It does not know jobs, follows no redirect, retries nothing and writes
/// no file: those are decisions, and the caller makes them.
public final class CurlClient: Sendable {
    /// What `ps -L` shows for its thread, as far as the kernel keeps it.
    public let name: String
    private let mailbox: Mailbox
    private let ended: Latch
    private let recorder: Locked<LoopMetricsRecorder>

    /// Starts the thread, and names it: the kernel keeps 15 bytes.
    public init(options: Options = .init(), name: String = "curl") throws(CurlClientError) {
        self.name = name
        mailbox = try Mailbox()
        ended = Latch()
        recorder = Locked(LoopMetricsRecorder(at: .now))
        let loop = try TransferLoop(name: name, options: options, mailbox: mailbox, recorder: recorder, ended: ended)
        try loop.startThread()
    }

    /// A client that is dropped ends its thread; what is under way then finishes as cancelled.
    deinit {
        mailbox.post(.shutdown)
    }

    /// Begins a transfer. Thread-safe and never blocks, even when called from a handler.
    ///
    /// `finished` is called exactly once, after the last `received`; for a bad request, too: nothing is thrown here.
    @discardableResult
    public func start(_ request: TransferRequest, handler: any TransferHandler) -> Transfer {
        let transfer = prepare()
        submit(transfer, request, handler: handler)
        return transfer
    }

    /// How well the thread keeps up, now and within the last minute. Costs a lock, whatever the thread does.
    public var loopMetrics: LoopMetricsSnapshot {
        recorder.withLock { $0.snapshot(at: .now) }
    }

    /// Cancels everything that is under way and waits for the thread to end. Idempotent.
    ///
    /// A transfer started afterwards finishes as cancelled, from a task, as the thread is gone.
    public func shutdown() async {
        mailbox.post(.shutdown)
        await ended.wait()
    }

    /// A transfer that is not begun yet, for a handler that needs the means to cancel before the first callback.
    func prepare() -> Transfer {
        Transfer(mailbox: mailbox)
    }

    func submit(_ transfer: Transfer, _ request: TransferRequest, handler: any TransferHandler) {
        let submission = Submission(id: transfer.id, request: request, handler: handler)
        guard !mailbox.post(.start(submission)) else { return }
        // Not called from here: the caller may hold a lock that its handler takes.
        Task { handler.finished(.neverStarted(.cancelled)) }
    }
}
