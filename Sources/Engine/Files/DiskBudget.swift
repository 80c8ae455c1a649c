import Downloads
import Glibc
import Locks

/// What parts may take of the file system: what is free, less a floor that is left to the database and to other programs,
/// less what the other parts under way still need.
///
/// A job for which there is no room waits, before it takes room that another job needs to end.
final class DiskBudget: Sendable {
    /// Bytes that are always left free.
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
    }

    private let floor: Floor
    /// What parts under way will still take: neither written nor reserved on the disk yet.
    private let needs = Locked<[PartID: Int64]>([:])

    init(floor: Floor) { self.floor = floor }

    /// Claims room for a part; a claim of the same part is replaced.
    ///
    /// - Parameters:
    ///   - need: bytes that the part will still take.
    ///   - space: of the file system; nil where it does not say: then there is room.
    /// - Throws: ENOSPC when there is no room, and nothing is claimed.
    func claim(_ need: Int64, for part: PartID, of space: DiskSpace?) throws(DiskError) {
        let room = space.map { $0.free - floor.bytes(of: $0) }
        try needs.withLock { needs throws(DiskError) in
            let others = needs.reduce(0) { $0 + ($1.key == part ? 0 : $1.value) }
            if let room, room - others < need { throw DiskError("reserve \(need) bytes", code: ENOSPC) }
            needs[part] = need
        }
    }

    /// The part has come so far: this is what it still needs.
    func note(_ need: Int64, of part: PartID) {
        needs.withLock { if $0[part] != nil { $0[part] = need } }
    }

    func release(_ part: PartID) { needs.withLock { $0[part] = nil } }

    /// Bytes that may be written or reserved now, apart from claims.
    func room(of space: DiskSpace) -> Int64 { space.free - floor.bytes(of: space) }
}
