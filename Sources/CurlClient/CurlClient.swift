import Base
import Formats
import Synchronization

/// A client that runs any number of HTTP transfers on one thread. Any thread can start and cancel transfers; handlers
/// are called on the thread of the client.
///
/// This thread owns the multi handle of libcurl and all easy handles. It sleeps in epoll, so its cost depends on the active
/// transfers, not on the open ones. The methods of this class only post a command to the thread and do not block.
///
/// The client knows requests, heads and bytes. It does not know jobs. It follows no redirects, retries nothing and
/// writes no files; the caller decides about them.
public final class CurlClient: Sendable {
    /// The name of the thread, as `ps -L` shows it. The kernel keeps the first 15 bytes.
    public let name: String
    private let mailbox: Mailbox
    private let ended: Latch
    private let recorder: Locked<LoopMetricsRecorder>

    public init(options: Options = .init(), name: String = "curl") throws(CurlClientError) {
        self.name = name
        mailbox = try Mailbox()
        ended = Latch()
        recorder = Locked(LoopMetricsRecorder(at: .now))
        let loop = try TransferLoop(name: name, options: options, mailbox: mailbox, recorder: recorder, ended: ended)
        try loop.startThread()
    }

    /// When the last reference to the client ends, its thread ends and running transfers finish as cancelled.
    deinit { mailbox.post(.shutdown) }

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
    public var loopMetrics: LoopMetricsSnapshot { recorder.withLock { $0.snapshot(at: .now) } }

    /// Cancels all running transfers and waits until the thread has ended. Idempotent.
    ///
    /// A transfer that is started later finishes as cancelled. A task reports this, because the thread has ended.
    public func shutdown() async {
        mailbox.post(.shutdown)
        await ended.wait()
    }

    /// A transfer that is not started yet, for a handler that must be able to cancel before its first callback.
    func prepare() -> Transfer { Transfer(mailbox: mailbox) }

    func submit(_ transfer: Transfer, _ request: TransferRequest, handler: any TransferHandler) {
        let submission = Submission(id: transfer.id, request: request, handler: handler)
        guard !mailbox.post(.start(submission)) else { return }
        // A direct call could deadlock if the caller holds a lock that its handler takes.
        Task { handler.finished(TransferResult(outcome: .cancelled)) }
    }
}

extension CurlClient {
    public struct Options: Sendable {
        /// The size of a chunk in bytes. libcurl delivers at most 16 KiB at once; larger chunks halve the cost of a
        /// transfer to a disk. 512 KiB. The chunks of a slow transfer are smaller: the first chunk has at most 32 KiB,
        /// and so has the chunk after one that did not become full within `flushInterval`.
        public var chunkBytes = 512 * 1024
        /// The window in bytes: the maximum size of the unreleased chunks of a handler, including the unfinished chunk.
        /// A transfer is paused when the window has too little room for the next read of libcurl (512 KiB), or if it is
        /// smaller than four reads, for the next bytes. It resumes when half of the window is free. 2 MiB.
        public var windowBytes = 2 * 1024 * 1024
        /// The size in bytes of the unreleased chunks of all handlers together above which each transfer is paused after one
        /// read of libcurl, until its chunks are released. So thousands of transfers need no window each. 256 MiB.
        public var maxHeldBytes = 256 * 1024 * 1024
        /// The maximum time from the first byte of a chunk to its delivery, if the chunk does not become full. If no byte
        /// follows within it, the next chunk is delivered at once, so that thousands of slow transfers do not hold a buffer
        /// each. 200 ms.
        public var flushInterval: Duration = .milliseconds(200)
        /// The maximum number of chunks that are unfinished at the same time. Beyond it the oldest is delivered before its
        /// `flushInterval`. 256.
        public var maxUnfinishedChunks = 256
        /// The maximum number of open connections, including busy ones (`CURLMOPT_MAXCONNECTS`). 128.
        public var maxIdleConnections = 128
        /// The maximum size in bytes of all heads of a response (status lines, fields, interim heads and trailers
        /// together). A larger head fails with `headTooLarge`. 256 KiB. libcurl itself limits a line to 100 KiB.
        public var headBytes = 256 * 1024
        /// Whether a transfer may connect to an address, for example `AddressPolicy.admits`; nil admits all addresses.
        /// The client calls it on its own thread with the address of the socket, not the text of the URL: before it
        /// opens a connection, and before each request, because a connection may be reused. It must not block.
        public var admitsAddress: (@Sendable (IPAddress) -> Bool)?

        /// The hosts and ports that URLs may name. The client asks for each request, before a name is looked up, and before
        /// a proxy is asked, on its own thread. It must not block. All.
        public var hosts: @Sendable () -> HostPolicy = { HostPolicy() }

        /// The maximum number of concurrent lookups. It includes lookups that no transfer waits for any longer: a running lookup
        /// cannot be interrupted, and holds a thread and a socket until the resolver gives up. Further lookups wait. 1,000.
        public var maxLookups = 1000
        /// Resolves a name to its addresses, in the order in which to try them; empty if there are none. nil uses the resolver
        /// of the system. The client calls it on a separate thread, which it may block. The name is lowercase ASCII.
        public var findsAddresses: (@Sendable (String) -> [IPAddress])?

        public init() {}
    }
}

public enum CurlClientError: Error, Sendable, Equatable {
    /// libcurl refused to initialise, or had no memory for a handle.
    case libraryUnavailable(String)

    /// A system call that the loop needs failed: `epoll_create1`, `eventfd` or `pthread_create`.
    case systemCallFailed(String, errno: Int32)
}

/// A started transfer, for its caller. The transfer continues if this object is released.
public final class Transfer: Sendable {
    let id = TransferID()
    private let mailbox: Mailbox
    private let isCancelled = Atomic(false)

    init(mailbox: Mailbox) { self.mailbox = mailbox }

    /// Ends the transfer in any phase. Thread-safe and idempotent. It has no effect after the transfer has finished.
    ///
    /// The unfinished chunk is still delivered. Then `finished` reports `cancelled`.
    public func cancel() {
        guard !isCancelled.exchange(true, ordering: .relaxed) else { return }
        mailbox.post(.cancel(id))
    }
}

/// Receives the events of a transfer. The client calls every method on its thread, so a method must not block: it would
/// block all transfers.
///
/// The order is: at most one `received(head:)`, any number of `received(chunk:)`, one `finished`.
public protocol TransferHandler: AnyObject, Sendable {
    /// The final head, before any byte of the body. Interim 1xx heads are skipped.
    func received(head: ResponseHead) -> HeadDecision

    /// The next bytes of an accepted response. A chunk counts against the window of the transfer while it is
    /// referenced. When the window is full, the transfer is paused.
    func received(chunk: Chunk)

    /// The result. Called exactly once.
    func finished(_ result: TransferResult)
}

public enum HeadDecision: Sendable {
    case accept
    /// The transfer ends, and the handler receives no byte of the body.
    case reject
}
