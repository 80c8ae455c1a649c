/// Lets a few tasks at a time do work that takes much memory or time.
///
/// Of those that wait, the next one is of the holder that has the fewest tasks inside, and of these the first that came. So a
/// holder with many tasks delays the others by one task at most.
public final class AsyncGate: Sendable {
    private struct Waiting {
        let number: Int
        let holder: String
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var free: Int
        var lastNumber = 0
        var waiting: [Waiting] = []
        /// The tasks inside, by their holder.
        var inside: [String: Int] = [:]

        mutating func enter(_ holder: String) { inside[holder, default: 0] += 1 }

        mutating func leave(_ holder: String) {
            let left = inside[holder, default: 0] - 1
            inside[holder] = left > 0 ? left : nil
        }

        mutating func takeNext() -> Waiting? {
            let loads = waiting.indices.map { inside[waiting[$0].holder, default: 0] }
            guard let least = loads.min(), let index = loads.firstIndex(of: least) else { return nil }
            return waiting.remove(at: index)
        }
    }

    private let state: Locked<State>

    /// - Parameter width: the largest number of tasks inside, at least 1.
    public init(width: Int) { state = Locked(State(free: width)) }

    /// Does the work when there is a place for it.
    ///
    /// - Parameter holder: who asks for the work, such as the identity of a caller.
    /// - Throws: `CancellationError` if the task is cancelled before.
    public func pass<Value>(for holder: String, _ work: () async throws -> Value) async throws -> Value {
        guard await enter(holder) else { throw CancellationError() }
        defer { leave(holder) }
        return try await work()
    }

    /// The number of tasks that wait.
    var waitingCount: Int { state.withLock(\.waiting.count) }

    private func enter(_ holder: String) async -> Bool {
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
                        state.enter(holder)
                        return true
                    }
                    state.waiting.append(Waiting(number: number, holder: holder, continuation: continuation))
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

    private func leave(_ holder: String) {
        let next: CheckedContinuation<Bool, Never>? = state.withLock { state in
            state.leave(holder)
            guard let next = state.takeNext() else {
                state.free += 1
                return nil
            }
            state.enter(next.holder)
            return next.continuation
        }
        next?.resume(returning: true)
    }
}
