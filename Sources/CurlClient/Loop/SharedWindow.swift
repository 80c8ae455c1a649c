import Locks

/// The window of a transfer, shared by the loop that fills it and the threads that release chunks.
final class SharedWindow: Sendable {
    private let transfer: TransferID
    private let mailbox: Mailbox
    private let window: Locked<Window>

    init(of transfer: TransferID, capacity: Int, mailbox: Mailbox) {
        self.transfer = transfer
        self.mailbox = mailbox
        window = Locked(Window(capacity: capacity))
    }

    func hasRoom(for count: Int) -> Bool {
        window.withLock { $0.hasRoom(for: count) }
    }

    func take(_ count: Int) -> Bool {
        window.withLock { $0.take(count) }
    }

    var isClosed: Bool {
        window.withLock { $0.isClosed }
    }

    func giveBack(_ count: Int) {
        if window.withLock({ $0.giveBack(count) }) {
            mailbox.post(.resume(transfer))
        }
    }
}
