import CLinux
import Descriptors
import Downloads
import Glibc
import Locks

/// The room of one part on the disk: claimed as a whole once its size is known, reserved in steps as its bytes come.
///
/// A reservation of the whole file would take the room that the database and other jobs need now for bytes that come much
/// later.
final class PartSpace: Sendable {
    private struct State {
        /// Of the whole file; nil where no response told.
        var size: Int64?
        /// Bytes that are written or reserved.
        var allocated: ByteRanges
    }

    private let part: PartID
    private let budget: DiskBudget
    private let space: @Sendable () -> DiskSpace?
    private let state: Locked<State>

    /// Bytes that are reserved at once, at most.
    private static let step: Int64 = 64 << 20
    /// Bytes below which reserving a file costs more than it tells.
    private static let worthReserving: Int64 = 1 << 20

    /// - Parameter space: asks the file system; nil where it does not say.
    init(
        of part: PartID, having ranges: ByteRanges, in budget: DiskBudget, space: @escaping @Sendable () -> DiskSpace?
    ) {
        self.part = part
        self.budget = budget
        self.space = space
        state = Locked(State(size: nil, allocated: ranges))
    }

    deinit { budget.release(part) }

    /// The whole size is known: the rest of it is claimed.
    ///
    /// - Throws: ENOSPC when there is no room for it.
    func claim(_ size: Int64) throws(DiskError) {
        let had = state.withLock { state in
            state.size = size
            return state.allocated.count
        }
        try budget.claim(max(0, size - had), for: part, of: space())
    }

    /// Before these bytes are written.
    ///
    /// - Throws: ENOSPC when they would take what is to be left free, or when the disk has no room for them.
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

    /// The bytes and some of those that follow: up to the end of the file, or to bytes that are there, and a small share of
    /// the room.
    private static func step(for range: Range<Int64>, _ state: State, room: Int64) -> Range<Int64> {
        guard let size = state.size, size >= worthReserving else { return range }
        let next = state.allocated.ranges.first { $0.lowerBound >= range.upperBound }?.lowerBound ?? size
        let wanted = range.lowerBound + max(Int64(range.count), min(step, room / 8))
        return range.lowerBound..<max(range.upperBound, min(wanted, next))
    }

    private static func reserve(_ range: Range<Int64>, in file: Descriptor) throws(DiskError) {
        guard linux_preallocate(file.number, range.lowerBound, Int64(range.count)) != 0 else { return }
        // File systems that cannot reserve write all the same.
        if errno == ENOSPC || errno == EDQUOT || errno == EFBIG { throw DiskError("reserve \(range.count) bytes") }
    }
}
