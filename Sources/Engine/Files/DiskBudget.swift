import Base
import CLinux
import Downloads
import Glibc

/// The disk space that parts may use: the free space of the file system, minus a floor for the database and other
/// programs, minus the space that the other running parts still need.
///
/// A job that does not fit waits before it uses space that another job needs to finish.
final class DiskBudget: Sendable {
    /// Bytes that always stay free; nil: 1 % of the file system, at most 1 GiB. It applies to new claims and writes.
    let minimumFreeBytes: Locked<Int64?>
    private let claims = Locked(DiskClaims())

    init(minimumFreeBytes: Int64?) { self.minimumFreeBytes = Locked(minimumFreeBytes) }

    /// Claims space for a part. A new claim replaces an earlier claim of the same part.
    ///
    /// - Parameters:
    ///   - need: bytes that the part will still use.
    ///   - space: space of the file system; nil when the system does not report it: then every claim succeeds.
    /// - Throws: ENOSPC when the space does not suffice; nothing is claimed then.
    func claim(_ need: Int64, for part: PartID, of space: DiskSpace?) throws(DiskError) {
        try present.claim(need, for: part, onDisk: space?.disk, room: space.map { self.room(of: $0) })
    }

    func update(_ need: Int64, of part: PartID) { present.update(need, of: part) }

    func release(_ part: PartID) { present.release(part) }

    private var present: DiskClaims { claims.withLock(\.self) }

    /// From now on, the parts of the other folder count, too, if they are on the same file system. No part has a claim yet.
    func share(with other: DiskBudget) { claims.withLock { $0 = other.present } }

    /// Bytes that may be written or reserved now, without regard to claims.
    func room(of space: DiskSpace) -> Int64 {
        space.free - (minimumFreeBytes.withLock(\.self) ?? min(space.total / 100, 1 << 30))
    }
}

/// What running parts will still use, on all file systems.
private final class DiskClaims: Sendable {
    private struct Claim {
        /// nil: the system does not report it.
        let disk: UInt64?
        /// Bytes that are neither written nor reserved on the disk yet.
        var need: Int64
    }

    private struct Claims {
        private var claims: [PartID: Claim] = [:]
        /// The sum of the claims of each disk: thousands of parts can have one.
        private var needs: [UInt64?: Int64] = [:]

        subscript(part: PartID) -> Claim? {
            get { claims[part] }
            set {
                if let before = claims[part] { needs[before.disk, default: 0] -= before.need }
                if let newValue { needs[newValue.disk, default: 0] += newValue.need }
                claims[part] = newValue
            }
        }

        func need(onDisk disk: UInt64?, without part: PartID) -> Int64 {
            let own = claims[part].flatMap { $0.disk == disk ? $0.need : nil }
            return needs[disk, default: 0] - (own ?? 0)
        }
    }

    private let claims = Locked(Claims())

    /// - Parameter room: bytes of the file system without regard to claims; nil: any number.
    func claim(_ need: Int64, for part: PartID, onDisk disk: UInt64?, room: Int64?) throws(DiskError) {
        try claims.withLock { claims throws(DiskError) in
            if let room, room - claims.need(onDisk: disk, without: part) < need {
                throw DiskError("reserve \(need) bytes", code: ENOSPC)
            }
            claims[part] = Claim(disk: disk, need: need)
        }
    }

    func update(_ need: Int64, of part: PartID) { claims.withLock { $0[part]?.need = need } }

    func release(_ part: PartID) { claims.withLock { $0[part] = nil } }
}

/// The disk space of one part. It is claimed as a whole when the size is known, and reserved in steps as bytes arrive.
///
/// To reserve the whole file at once would take space that the database and other jobs need now for bytes that arrive
/// much later.
final class PartSpace: Sendable {
    private struct State {
        /// Size of the whole file; nil when no response stated it, and when the file is never on the disk as a whole.
        var size: Int64?
        /// The bytes that are on the disk at the same time; nil: all of the file.
        var window: Int64?
        /// Bytes that are written or reserved.
        var allocated: ByteRanges
        /// Those that were added last, among which the next ones mostly are. It is slow to look into a set.
        var latest: Range<Int64> = 0..<0

        func has(_ range: Range<Int64>) -> Bool {
            range.clamped(to: latest) == range || ByteRanges(range).isSubset(of: allocated)
        }

        mutating func add(_ range: Range<Int64>) {
            allocated.insert(contentsOf: range)
            latest = range
        }
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
        state = Locked(State(allocated: ranges))
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

    /// Claims space for the bytes of a file that are on the disk at the same time. Nothing is reserved.
    ///
    /// - Throws: ENOSPC when the space does not suffice.
    func claim(window: Int64) throws(DiskError) {
        let had = state.withLock { state in
            state.window = window
            return state.allocated.count
        }
        try budget.claim(max(0, window - had), for: part, of: space())
    }

    /// The first bytes are not on the disk any more.
    func release(upTo end: Int64) {
        state.withLock { state in
            state.allocated.remove(contentsOf: 0..<end)
            state.latest = 0..<0
            updateClaim(state)
        }
    }

    private func updateClaim(_ state: State) {
        guard let most = state.window ?? state.size else { return }
        budget.update(max(0, most - state.allocated.count), of: part)
    }

    /// Called before these bytes are written. Reserves space for them.
    ///
    /// - Throws: ENOSPC when the bytes would use space that must stay free, or when the disk has no space for them.
    func prepare(_ range: Range<Int64>, in file: Descriptor) throws(DiskError) {
        try state.withLock { state throws(DiskError) in
            guard !range.isEmpty, !state.has(range) else { return }
            let room = space().map(budget.room) ?? .max
            guard room >= Int64(range.count) else { throw DiskError("write the part", code: ENOSPC) }
            let step = Self.step(for: range, state, room: room)
            if step.upperBound > range.upperBound { try Self.reserve(step, in: file) }
            state.add(step)
            updateClaim(state)
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
