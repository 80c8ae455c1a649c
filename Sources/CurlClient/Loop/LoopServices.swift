/// What the loop lends to each of its transfers. Confined to the loop's thread, as they are.
final class LoopServices {
    let options: CurlClient.Options
    let mailbox: Mailbox
    let pool: BufferPool
    let timers = LoopTimers()
    let sockets = SocketRegistry()
    private var rejectedTransfers: [TransferID] = []

    init(options: CurlClient.Options, mailbox: Mailbox) {
        self.options = options
        self.mailbox = mailbox
        pool = BufferPool(bufferBytes: max(1, options.chunkBytes))
    }

    /// An address that cannot be read is admitted by nobody who is asked.
    func admits(_ address: IPAddress?) -> Bool {
        guard let admitsAddress = options.admitsAddress else { return true }
        return address.map(admitsAddress) ?? false
    }

    /// Notes a transfer whose head was refused, for the end of the loop's turn.
    func rejected(_ transfer: TransferID) {
        rejectedTransfers.append(transfer)
    }

    func takeRejected() -> [TransferID] {
        defer { rejectedTransfers.removeAll(keepingCapacity: true) }
        return rejectedTransfers
    }
}
