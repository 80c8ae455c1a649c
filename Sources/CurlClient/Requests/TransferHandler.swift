/// What a transfer tells its caller. Every method is called on the client's thread and must not block: it holds up all
/// other transfers.
///
/// The order is: at most one `received(head:)`, any number of `received(chunk:)`, one `finished`.
public protocol TransferHandler: AnyObject, Sendable {
    /// The final head (interim 1xx heads are skipped), before any byte of the body.
    func received(head: ResponseHead) -> HeadVerdict

    /// The next bytes of an accepted response. Whoever keeps the chunk keeps its bytes in the transfer's window; when
    /// the window is full, the transfer is paused.
    func received(chunk: Chunk)

    /// The end, exactly once.
    func finished(_ result: TransferResult)
}
