/// Lets a few tasks at a time do work that takes much memory or time. The others wait in their order.
public final class AsyncGate: Sendable {
    private struct State {
        var free: Int
        var lastNumber = 0
        var waiting: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    }

    private let state: Locked<State>

    /// - Parameter width: the largest number of tasks inside, at least 1.
    public init(width: Int) { state = Locked(State(free: width)) }

    /// Does the work when there is a place for it.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before.
    public func pass<Value>(_ work: () async throws -> Value) async throws -> Value {
        guard await enter() else { throw CancellationError() }
        defer { leave() }
        return try await work()
    }

    private func enter() async -> Bool {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isInside: Bool? = state.withLock { state in
                    // A cancellation before this moment finds no waiting task.
                    if Task.isCancelled { return false }
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.waiting.append((number, continuation))
                    return nil
                }
                if let isInside { continuation.resume(returning: isInside) }
            }
        } onCancel: {
            let cancelled = state.withLock { state in
                state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0).continuation }
            }
            cancelled?.resume(returning: false)
        }
    }

    private func leave() {
        let next: CheckedContinuation<Bool, Never>? = state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst().continuation }
            state.free += 1
            return nil
        }
        next?.resume(returning: true)
    }
}
