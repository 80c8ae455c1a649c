import Dispatch
import Glibc
import Locks

/// The handlers of SIGTERM and SIGINT. The first signal requests an orderly stop. A second signal, or the timeout of
/// the stop, ends the process at once.
///
/// The handlers run on their own queue, not in a task: a disk that hangs can block every thread that runs Swift tasks.
enum StopSignals {
    /// Returns when the handlers are installed; until then the signals end the process.
    ///
    /// - Parameter seconds: the timeout of the orderly stop.
    /// - Returns: a stream that yields one element, at the first signal.
    static func heed(stopWithin seconds: Double) async -> AsyncStream<Void> {
        let (requests, continuation) = AsyncStream<Void>.makeStream()
        let queue = DispatchQueue(label: "fetchd.signals", qos: .userInitiated)
        let count = Locked(0)
        for number in [SIGTERM, SIGINT] {
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            // The handler retains its source, so that the source lives as long as the process.
            source.setEventHandler {
                let signals = count.withLock { count in
                    count += Int(source.data)
                    return count
                }
                guard signals == 1 else { end(128 + number, "A second signal ends fetchd at once.") }
                queue.asyncAfter(deadline: .now() + seconds) {
                    end(
                        ServeStatus.unstored.rawValue,
                        "The stop took longer than the \(seconds) s of --stop-timeout. At the next start, running jobs continue from their last checkpoint."
                    )
                }
                continuation.yield()
            }
            await withCheckedContinuation { isRegistered in
                source.setRegistrationHandler { isRegistered.resume() }
                source.resume()
            }
        }
        return requests
    }

    /// - Parameter reason: a sentence for standard error. It is not written if the write would block.
    private static func end(_ status: Int32, _ reason: String) -> Never {
        var standardError = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        if poll(&standardError, 1, 0) == 1 {
            let line = Array("\(reason)\n".utf8)
            _ = write(STDERR_FILENO, line, line.count)
        }
        _exit(status)
    }
}
