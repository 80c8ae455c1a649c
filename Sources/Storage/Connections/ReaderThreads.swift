import Dispatch
import Locks

/// The threads that read the database, so that no read blocks a thread of Swift's tasks. There is one for each read-only
/// connection. Each runs a serial queue: the threads of concurrent queues are also those of Swift's tasks.
final class ReaderThreads: Sendable {
    private struct State {
        /// Reads that wait for a thread, oldest first.
        var waiting: [@Sendable () -> Void] = []
        /// The threads without a read.
        var idle: [Int]
    }

    private let queues: [DispatchQueue]
    private let state: Locked<State>

    init(count: Int) {
        queues = (0..<count).map { DispatchQueue(label: "fetchd.reader.\($0)", qos: .userInitiated) }
        state = Locked(State(idle: Array(queues.indices)))
    }

    /// Runs a read after those that came before, on the first thread that is free. It ends in milliseconds, so the
    /// cancellation of the task does not interrupt it.
    func run<Value: Sendable>(_ read: @escaping @Sendable () -> Value) async -> Value {
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

    private func drain(_ thread: Int) {
        while let read = next(for: thread) { read() }
    }

    /// The oldest waiting read; nil when none waits, and then the thread is idle.
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
