import Dispatch
import Synchronization

/// The few threads that block on the disk, so that neither the transfer loop nor Swift's tasks block.
///
/// All operations on one part run in one lane, in order.
final class DiskLanes: Sendable {
    private let lanes: [DispatchQueue]
    private let turn = Atomic(0)
    /// For short operations on names: open, remove and sweep files, and read the free space. They do not wait for long
    /// writes and hashes.
    let metadata = DiskLane(queue: DispatchQueue(label: "fetchd.disk.metadata", qos: .userInitiated))

    init(count: Int = 4) {
        lanes = (0..<count).map { DispatchQueue(label: "fetchd.disk.\($0)", qos: .userInitiated) }
    }

    func next() -> DiskLane {
        DiskLane(queue: lanes[turn.wrappingAdd(1, ordering: .relaxed).oldValue % lanes.count])
    }
}
