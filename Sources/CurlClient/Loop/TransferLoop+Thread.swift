import Locks

/// Starts the thread of the loop.
extension TransferLoop {
    /// Moves the loop to a new thread. The caller must not use it afterwards.
    func startThread() throws(CurlClientError) {
        nonisolated(unsafe) let loop = Unmanaged.passRetained(self)
        // The latch opens after the loop and everything that it owns are released.
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
