/// Objects that the loop shares with its transfers. They are confined to the thread of the loop.
final class LoopServices {
    let options: CurlClient.Options
    let mailbox: Mailbox
    let pool: BufferPool
    let timers = LoopTimers()
    let sockets = SocketRegistry()
    /// The transfers with an unfinished chunk, by the time since when they have it.
    private var unfinished = DeadlineQueue<TransferID>()
    private var rejectedTransfers: [TransferID] = []

    init(options: CurlClient.Options, mailbox: Mailbox) {
        self.options = options
        self.mailbox = mailbox
        pool = BufferPool(bufferBytes: max(1, options.chunkBytes))
    }

    /// Records since when a transfer has an unfinished chunk; nil: it has none.
    func note(_ transfer: TransferID, unfinishedSince moment: ContinuousClock.Instant?) {
        if let moment { unfinished.add(transfer, at: moment) } else { unfinished.remove(transfer) }
    }

    /// Removes and returns the transfer with the oldest unfinished chunk if there are too many.
    func takeOldestUnfinished() -> TransferID? {
        guard unfinished.count > options.maxUnfinishedChunks else { return nil }
        return unfinished.popDue(at: timers.now)
    }

    /// Records a transfer with a rejected head, which the loop ends at the end of its turn.
    func rejected(_ transfer: TransferID) {
        rejectedTransfers.append(transfer)
    }

    func takeRejected() -> [TransferID] {
        defer { rejectedTransfers.removeAll(keepingCapacity: true) }
        return rejectedTransfers
    }
}
