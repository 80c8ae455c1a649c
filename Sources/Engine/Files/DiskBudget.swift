import Downloads
import Glibc
import Locks

/// The disk space that parts may use: the free space of the file system, minus a floor for the database and other
/// programs, minus the space that the other running parts still need.
///
/// A job that does not fit waits before it uses space that another job needs to finish.
final class DiskBudget: Sendable {
    /// Bytes that always stay free.
    enum Floor: Sendable, Equatable {
        /// 1 % of the file system, at most 1 GiB.
        case standard
        case bytes(Int64)

        func bytes(of space: DiskSpace) -> Int64 {
            switch self {
            case .standard: min(space.total / 100, 1 << 30)
            case .bytes(let count): count
            }
        }

        /// - Parameter minimum: nil: the standard.
        init(_ minimum: Int64?) { self = minimum.map { .bytes($0) } ?? .standard }
    }

    private let currentFloor: Locked<Floor>
    /// Bytes that each running part will still use: neither written nor reserved on the disk yet.
    private let needs = Locked<[PartID: Int64]>([:])

    init(floor: Floor) { currentFloor = Locked(floor) }

    /// A new floor applies to new claims and writes.
    var floor: Floor {
        get { currentFloor.withLock(\.self) }
        set { currentFloor.withLock { $0 = newValue } }
    }

    /// Claims space for a part. A new claim replaces an earlier claim of the same part.
    ///
    /// - Parameters:
    ///   - need: bytes that the part will still use.
    ///   - space: space of the file system; nil when the system does not report it: then every claim succeeds.
    /// - Throws: ENOSPC when the space does not suffice; nothing is claimed then.
    func claim(_ need: Int64, for part: PartID, of space: DiskSpace?) throws(DiskError) {
        let room = space.map { $0.free - floor.bytes(of: $0) }
        try needs.withLock { needs throws(DiskError) in
            let others = needs.reduce(0) { $0 + ($1.key == part ? 0 : $1.value) }
            if let room, room - others < need { throw DiskError("reserve \(need) bytes", code: ENOSPC) }
            needs[part] = need
        }
    }

    /// Updates the bytes that the part still needs.
    func note(_ need: Int64, of part: PartID) {
        needs.withLock { if $0[part] != nil { $0[part] = need } }
    }

    func release(_ part: PartID) { needs.withLock { $0[part] = nil } }

    /// Bytes that may be written or reserved now, without regard to claims.
    func room(of space: DiskSpace) -> Int64 { space.free - floor.bytes(of: space) }
}
