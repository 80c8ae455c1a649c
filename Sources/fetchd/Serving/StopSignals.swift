import Base
import Dispatch
import Glibc

/// The handlers of SIGTERM and SIGINT. The first signal requests an orderly stop. A second signal, or the timeout of
/// the stop, ends the process at once. The timeout also limits the stop of a service that others have replaced.
///
/// The handlers run on their own queue, not in a task: a disk that hangs can block every thread that runs Swift tasks.
struct StopSignals: Sendable {
    /// Yields one element, at the first signal.
    let requests: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let timeout: Double
    private let delay: Double
    private let queue = DispatchQueue(label: "fetchd.signals", qos: .userInitiated)
    private let count = Locked(0)

    /// - Parameters:
    ///   - seconds: the timeout of the orderly stop.
    ///   - delay: the seconds between the first signal and the stop.
    init(stopWithin seconds: Double, after delay: Double) {
        timeout = seconds
        self.delay = delay
        (requests, continuation) = AsyncStream<Void>.makeStream()
    }

    /// Ignores signals that have no meaning here, and that would end the process by default. Other programs use them, for example
    /// to reopen a log file.
    static func ignoreOthers() { for number in [SIGUSR1, SIGUSR2] { signal(number, SIG_IGN) } }

    var isRequested: Bool { count.withLock { $0 > 0 } }

    /// Returns when the handlers are installed; until then the signals end the process.
    func install() async {
        for number in [SIGTERM, SIGINT] {
            await DispatchSource.handleSignal(number, on: queue) { handle(number, times: $0) }
        }
    }

    /// The service stops by itself, because others have its jobs. If it still runs after the timeout, the process ends.
    func limitReplacement() {
        queue.asyncAfter(deadline: .now() + timeout) { [timeout] in
            // After a signal, the timeout of the stop ends the process.
            guard !isRequested else { return }
            Self.end(
                ServeStatus.nodeReplaced.rawValue,
                "The stop took longer than the \(timeout) s of --stop-timeout. \(ServeStatus.jobsAreElsewhere)")
        }
    }

    private func handle(_ number: Int32, times: Int) {
        let signals = count.withLock { count in
            count += times
            return count
        }
        guard signals == 1 else { Self.end(128 + number, "A second signal ends fetchd at once.") }
        queue.asyncAfter(deadline: .now() + delay + timeout) { [timeout] in
            Self.end(
                ServeStatus.unstored.rawValue,
                "The stop took longer than the \(timeout) s of --stop-timeout. At the next start, running jobs continue from their last checkpoint."
            )
        }
        continuation.yield()
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

extension DispatchSource {
    /// Returns when the handler is installed; until then the signal has its default action.
    ///
    /// - Parameter handler: gets the number of signals that have arrived together.
    fileprivate static func handleSignal(
        _ number: Int32, on queue: DispatchQueue, _ handler: @escaping @Sendable (Int) -> Void
    ) async {
        let source = makeSignalSource(signal: number, queue: queue)
        // The handler retains its source, so that the source lives as long as the process.
        source.setEventHandler { handler(Int(source.data)) }
        await withCheckedContinuation { isRegistered in
            source.setRegistrationHandler { isRegistered.resume() }
            source.resume()
        }
    }
}

/// SIGHUP asks the service to read its configuration again.
enum ReloadSignal {
    /// - Returns: a stream with an element after each signal. Signals that arrive together are one.
    static func heed() async -> AsyncStream<Void> {
        let (requests, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        await DispatchSource.handleSignal(SIGHUP, on: DispatchQueue(label: "fetchd.reload")) { _ in continuation.yield()
        }
        return requests
    }
}
