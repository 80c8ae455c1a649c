import Dispatch
import Glibc
import Locks

/// Ctrl-C and SIGTERM as the cancellation of a task, so that what was drawn is left in order and the last word is said.
enum Interruption {
    /// Which signal it was.
    struct Received: Error {
        let signal: Int32
        /// As shells have it.
        var exitCode: Int32 { 128 + signal }
    }

    private static let signals = [SIGINT, SIGTERM]

    /// - Throws: `Received` where the body was interrupted before its end.
    static func cancelling<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let received = Locked<Int32?>(nil)
        let task = Task { try await body() }
        let sources = signals.map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                received.withLock { $0 = number }
                task.cancel()
            }
            source.resume()
            return source
        }
        defer {
            for source in sources { source.cancel() }
            for number in signals { signal(number, SIG_DFL) }
        }
        do {
            return try await task.value
        } catch {
            guard let number = received.withLock({ $0 }) else { throw error }
            throw Received(signal: number)
        }
    }
}
