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
