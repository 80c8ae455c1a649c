import Synchronization

/// The caller's hold on a transfer. Dropping it does not end the transfer.
public final class Transfer: Sendable {
    let id = TransferID()
    private let mailbox: Mailbox
    private let isCancelled = Atomic(false)

    init(mailbox: Mailbox) {
        self.mailbox = mailbox
    }

    /// Ends the transfer in whatever phase it is. Thread-safe, idempotent, and without effect once it has finished.
    ///
    /// What was gathered until then is still handed over; then `finished` says `cancelled`.
    public func cancel() {
        guard !isCancelled.exchange(true, ordering: .relaxed) else { return }
        mailbox.post(.cancel(id))
    }
}
