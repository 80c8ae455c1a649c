/// Receives the events of a transfer. The client calls every method on its thread, so a method must not block: it would
/// block all transfers.
///
/// The order is: at most one `received(head:)`, any number of `received(chunk:)`, one `finished`.
public protocol TransferHandler: AnyObject, Sendable {
    /// The final head, before any byte of the body. Interim 1xx heads are skipped.
    func received(head: ResponseHead) -> HeadVerdict

    /// The next bytes of an accepted response. A chunk counts against the window of the transfer while it is
    /// referenced. When the window is full, the transfer is paused.
    func received(chunk: Chunk)

    /// The result. Called exactly once.
    func finished(_ result: TransferResult)
}
