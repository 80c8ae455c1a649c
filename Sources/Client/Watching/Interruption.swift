import Dispatch
import Glibc
import Locks

/// Ctrl-C, SIGTERM and the end of the terminal as the cancellation of a task, so that what was drawn is left in order and
/// the last word is said. What cannot be cancelled, because somebody does not read what it writes, ends a moment later all
/// the same, or at the second signal.
enum Interruption {
    /// Which signal it was.
    struct Received: Error {
        let signal: Int32
        /// As shells have it.
        var exitCode: Int32 { 128 + signal }
    }

    /// Long enough for a last word, and short for whoever waits for the prompt.
    private static let grace = DispatchTimeInterval.seconds(1)

    /// - Throws: `Received` where the body was interrupted before its end.
    static func cancelling<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let received = Locked<Int32?>(nil)
        let task = Task { try await body() }
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
