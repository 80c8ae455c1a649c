import Synchronization

/// A started transfer, for its caller. The transfer continues if this object is released.
public final class Transfer: Sendable {
    let id = TransferID()
    private let mailbox: Mailbox
    private let isCancelled = Atomic(false)

    init(mailbox: Mailbox) {
        self.mailbox = mailbox
    }

    /// Ends the transfer in any phase. Thread-safe and idempotent. It has no effect after the transfer has finished.
    ///
    /// The unfinished chunk is still delivered. Then `finished` reports `cancelled`.
    public func cancel() {
        guard !isCancelled.exchange(true, ordering: .relaxed) else { return }
        mailbox.post(.cancel(id))
    }
}
