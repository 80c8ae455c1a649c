import Dispatch
import Glibc

/// The handler of SIGHUP, which asks the service to read its configuration again.
enum ReloadSignal {
    /// Returns when the handler is installed; until then the signal ends the process.
    ///
    /// - Returns: a stream with an element after each signal. Signals that arrive together are one.
    static func heed() async -> AsyncStream<Void> {
        let (requests, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: DispatchQueue(label: "fetchd.reload"))
        // The handler retains its source, so that the source lives as long as the process.
        source.setEventHandler {
            _ = source.data
            continuation.yield()
        }
        await withCheckedContinuation { isRegistered in
            source.setRegistrationHandler { isRegistered.resume() }
            source.resume()
        }
        return requests
    }
}
