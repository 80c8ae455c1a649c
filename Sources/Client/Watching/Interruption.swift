import Dispatch
import Glibc
import Locks

/// Converts SIGINT, SIGTERM and SIGHUP to the cancellation of a task, so that the command can restore the terminal and print
/// its last message. A task that does not end, for example because it writes to a full pipe, is ended by the signal after
/// five seconds, or by a second signal.
enum Interruption {
    /// The task was interrupted by a signal.
    struct Received: Error {
        let signal: Int32
        /// The exit status by the convention of shells.
        var exitCode: Int32 { 128 + signal }
    }

    /// The time for the last steps after a signal. It leaves room for a process that the system pauses for a while.
    private static let grace = DispatchTimeInterval.seconds(5)

    /// The body begins when the signals are heard, so that none of them can end it without its last steps.
    ///
    /// - Throws: `Received` if a signal interrupted the body.
    static func cancelling<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let received = Locked<Int32?>(nil)
        let areHeard = Latch()
        let task = Task {
            await areHeard.wait()
            return try await body()
        }
        let isOver = Locked(false)
        let signals = SignalAction.ends.filter(SignalAction.isHeard)
        for number in signals {
            SignalAction.hear(number) { queue in
                let isFirst = received.withLock { signal in
                    defer { signal = signal ?? number }
                    return signal == nil
                }
                guard isFirst else { return SignalAction.act(by: number) }
                task.cancel()
                queue.asyncAfter(deadline: .now() + grace) {
                    if !isOver.withLock({ $0 }) { SignalAction.act(by: number) }
                }
            }
        }
        areHeard.open()
        defer {
            isOver.withLock { $0 = true }
            signals.forEach(SignalAction.leave)
        }
        do {
            return try await task.value
        } catch {
            guard let number = received.withLock({ $0 }) else { throw error }
            throw Received(signal: number)
        }
    }
}
