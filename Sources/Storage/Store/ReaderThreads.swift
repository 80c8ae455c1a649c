import Base
import Dispatch

/// The threads that read the database, so that no read blocks a thread of Swift's tasks. Each read-only connection has
/// one thread. Each thread runs a serial queue, because concurrent queues share their threads with Swift's tasks.
package final class ReaderThreads: Sendable {
    private struct State {
        /// Reads that wait for a thread, oldest first.
        var waiting: [@Sendable () -> Void] = []
        /// The threads without a read.
        var idle: [Int]
    }

    private let queues: [DispatchQueue]
    private let state: Locked<State>

    package init(count: Int) {
        queues = (0..<count).map { DispatchQueue(label: "fetchd.reader.\($0)", qos: .userInitiated) }
        state = Locked(State(idle: Array(queues.indices)))
    }

    /// Runs a read on the first free thread, after all reads that were added before. A read takes milliseconds, so the
    /// cancellation of the task does not interrupt it.
    package func run<Value: Sendable>(_ read: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            enqueue { continuation.resume(returning: read()) }
        }
    }

    private func enqueue(_ read: @escaping @Sendable () -> Void) {
        let thread: Int? = state.withLock { state in
            state.waiting.append(read)
            return state.idle.popLast()
        }
        if let thread { queues[thread].async { self.drain(thread) } }
    }

    private func drain(_ thread: Int) { while let read = next(for: thread) { read() } }

    /// The oldest waiting read; nil when no read waits. The thread is then marked as idle.
    private func next(for thread: Int) -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.idle.append(thread)
                return nil
            }
            return state.waiting.removeFirst()
        }
    }
}
