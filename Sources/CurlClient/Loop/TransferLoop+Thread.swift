import Locks

/// The thread under the loop.
extension TransferLoop {
    /// Hands the loop to a thread of its own. The caller must not touch it again.
    func startThread() throws(CurlClientError) {
        nonisolated(unsafe) let loop = Unmanaged.passRetained(self)
        // Opens the latch only when the loop and all it owns are gone. Nobody joins the thread: the latch tells its end.
        let failure = DetachedThread.start(named: name) { runToEnd(loop).open() }
        guard failure == 0 else {
            loop.release()
            throw .systemCallFailed("pthread_create", errno: failure)
        }
    }
}

private func runToEnd(_ loop: Unmanaged<TransferLoop>) -> Latch {
    let loop = loop.takeRetainedValue()
    loop.run()
    return loop.ended
}
