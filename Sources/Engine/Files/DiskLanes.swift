import Dispatch
import Synchronization

/// The few threads that block on the disk, so that neither the transfer loop nor Swift's tasks ever do.
///
/// What concerns one part runs in one lane, in order.
final class DiskLanes: Sendable {
    private let lanes: [DispatchQueue]
    private let turn = Atomic(0)

    init(count: Int = 4) {
        lanes = (0..<count).map { DispatchQueue(label: "fetchd.disk.\($0)", qos: .userInitiated) }
    }

    func next() -> DiskLane {
        DiskLane(queue: lanes[turn.wrappingAdd(1, ordering: .relaxed).oldValue % lanes.count])
    }
}

struct DiskLane: Sendable {
    fileprivate let queue: DispatchQueue

    func async(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

    /// Runs after everything that was given to the lane before.
    func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Result { try work() }) }
        }
    }
}
