import CLinux
import Descriptors
import Downloads
import Glibc
import Locks

/// The disk space of one part. It is claimed as a whole when the size is known, and reserved in steps as bytes arrive.
///
/// To reserve the whole file at once would take space that the database and other jobs need now for bytes that arrive
/// much later.
final class PartSpace: Sendable {
    private struct State {
        /// Size of the whole file; nil when no response stated it.
        var size: Int64?
        /// Bytes that are written or reserved.
        var allocated: ByteRanges
    }

    private let part: PartID
    private let budget: DiskBudget
    private let space: @Sendable () -> DiskSpace?
    private let state: Locked<State>

    /// Maximum number of bytes that are reserved at once.
    private static let step: Int64 = 64 << 20
    /// A smaller file is not reserved: the reservation would cost more than it prevents.
    private static let worthReserving: Int64 = 1 << 20

    /// - Parameter space: reads the space of the file system; nil when the system does not report it.
    init(
        of part: PartID, having ranges: ByteRanges, in budget: DiskBudget, space: @escaping @Sendable () -> DiskSpace?
    ) {
        self.part = part
        self.budget = budget
        self.space = space
        state = Locked(State(size: nil, allocated: ranges))
    }

    deinit { budget.release(part) }

    /// Called when the size of the whole file is known. Claims space for the missing bytes.
    ///
    /// - Throws: ENOSPC when the space does not suffice.
    func claim(_ size: Int64) throws(DiskError) {
        let had = state.withLock { state in
            state.size = size
            return state.allocated.count
        }
        try budget.claim(max(0, size - had), for: part, of: space())
    }

    /// Called before these bytes are written. Reserves space for them.
    ///
    /// - Throws: ENOSPC when the bytes would use space that must stay free, or when the disk has no space for them.
    func prepare(_ range: Range<Int64>, in file: Descriptor) throws(DiskError) {
        try state.withLock { state throws(DiskError) in
            guard !range.isEmpty, !ByteRanges(range).isSubset(of: state.allocated) else { return }
            let room = space().map(budget.room) ?? .max
            guard room >= Int64(range.count) else { throw DiskError("write the part", code: ENOSPC) }
            let step = Self.step(for: range, state, room: room)
            if step.upperBound > range.upperBound { try Self.reserve(step, in: file) }
            state.allocated.insert(contentsOf: step)
            if let size = state.size { budget.note(max(0, size - state.allocated.count), of: part) }
        }
    }

    /// The bytes and some bytes after them: up to the end of the file or to bytes that exist, and at most a small share
    /// of the free space.
    private static func step(for range: Range<Int64>, _ state: State, room: Int64) -> Range<Int64> {
        guard let size = state.size, size >= worthReserving else { return range }
        let next = state.allocated.ranges.first { $0.lowerBound >= range.upperBound }?.lowerBound ?? size
        let wanted = range.lowerBound + max(Int64(range.count), min(step, room / 8))
        return range.lowerBound..<max(range.upperBound, min(wanted, next))
    }

    private static func reserve(_ range: Range<Int64>, in file: Descriptor) throws(DiskError) {
        guard linux_preallocate(file.number, range.lowerBound, Int64(range.count)) != 0 else { return }
        // On a file system that cannot reserve space, the write is done without a reservation.
        if errno == ENOSPC || errno == EDQUOT || errno == EFBIG { throw DiskError("reserve \(range.count) bytes") }
    }
}
