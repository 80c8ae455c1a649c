import Dispatch
import Glibc
import Locks

/// SIGTERM and SIGINT: the first asks for an orderly stop. A second one ends the process at once, and so does an orderly stop
/// that takes too long.
///
/// All of it happens on a queue with a thread of its own: a disk that hangs may hold up every thread on which Swift's tasks
/// run.
enum StopSignals {
    /// Returns when the signals are heeded; until then they end the process.
    ///
    /// - Parameter seconds: what the orderly stop may take.
    /// - Returns: one element, when the first signal comes.
    static func heed(stopWithin seconds: Double) async -> AsyncStream<Void> {
        let (requests, continuation) = AsyncStream<Void>.makeStream()
        let queue = DispatchQueue(label: "fetchd.signals", qos: .userInitiated)
        let count = Locked(0)
        for number in [SIGTERM, SIGINT] {
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            // The handler holds its source, which so lives as long as the process.
            source.setEventHandler {
                let signals = count.withLock { count in
                    count += Int(source.data)
                    return count
                }
                guard signals == 1 else { end(128 + number, "A second signal ends fetchd at once.") }
                queue.asyncAfter(deadline: .now() + seconds) {
                    end(
                        ServeStatus.unstored.rawValue,
                        "The stop took longer than the \(seconds) s of --stop-timeout. Running jobs go on from their last checkpoint at the next start."
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

    /// - Parameter reason: a sentence for standard error. It is not written where that would block.
    private static func end(_ status: Int32, _ reason: String) -> Never {
        var standardError = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        if poll(&standardError, 1, 0) == 1 {
            let line = Array("\(reason)\n".utf8)
            _ = write(STDERR_FILENO, line, line.count)
        }
        _exit(status)
    }
}
