import Locks

/// A client that runs any number of HTTP transfers on one thread. Any thread can start and cancel transfers; handlers
/// are called on the thread of the client.
///
/// This thread owns the multi handle of libcurl and all easy handles. It sleeps in epoll, so its cost depends on the
/// active transfers, not on the open ones. The methods of this class only post a command to the thread and do not
/// block.
///
/// The client knows requests, heads and bytes. It does not know jobs. It follows no redirects, retries nothing and
/// writes no files; the caller decides about them.
public final class CurlClient: Sendable {
    /// The name of the thread, as `ps -L` shows it. The kernel keeps the first 15 bytes.
    public let name: String
    private let mailbox: Mailbox
    private let ended: Latch
    private let recorder: Locked<LoopMetricsRecorder>

    /// Starts the thread.
    public init(options: Options = .init(), name: String = "curl") throws(CurlClientError) {
        self.name = name
        mailbox = try Mailbox()
        ended = Latch()
        recorder = Locked(LoopMetricsRecorder(at: .now))
        let loop = try TransferLoop(name: name, options: options, mailbox: mailbox, recorder: recorder, ended: ended)
        try loop.startThread()
    }

    /// When the last reference to the client ends, its thread ends and running transfers finish as cancelled.
    deinit {
        mailbox.post(.shutdown)
    }

    /// Starts a transfer. Thread-safe. It never blocks, also when a handler calls it.
    ///
    /// `finished` is called exactly once, after the last `received`. An invalid request is also reported there, and
    /// this method throws nothing.
    @discardableResult
    public func start(_ request: TransferRequest, handler: any TransferHandler) -> Transfer {
        let transfer = prepare()
        submit(transfer, request, handler: handler)
        return transfer
    }

    /// The lag of the thread, now and within the last minute. Reading it takes one lock, even if the thread is blocked.
    public var loopMetrics: LoopMetricsSnapshot {
        recorder.withLock { $0.snapshot(at: .now) }
    }

    /// Cancels all running transfers and waits until the thread has ended. Idempotent.
    ///
    /// A transfer that is started later finishes as cancelled. A task reports this, because the thread has ended.
    public func shutdown() async {
        mailbox.post(.shutdown)
        await ended.wait()
    }

    /// A transfer that is not started yet, for a handler that must be able to cancel before its first callback.
    func prepare() -> Transfer {
        Transfer(mailbox: mailbox)
    }

    func submit(_ transfer: Transfer, _ request: TransferRequest, handler: any TransferHandler) {
        let submission = Submission(id: transfer.id, request: request, handler: handler)
        guard !mailbox.post(.start(submission)) else { return }
        // A direct call could deadlock if the caller holds a lock that its handler takes.
        Task { handler.finished(.neverStarted(.cancelled)) }
    }
}
