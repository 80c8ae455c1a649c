import Dispatch

/// A serial queue for operations that block on the disk.
struct DiskLane: Sendable {
    let queue: DispatchQueue

    func async(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

    /// Runs `work` after all work that was added to the lane before.
    func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try work() }) }
        }
    }
}
