/// The newest versions of rows that the writer has read or written, so that it does not read them again.
///
/// A write of a group commit can be refused, and the commit can fail. So a version first belongs to the write, then to the
/// group, and is committed in the end.
struct RowVersions<Key: Hashable, Value> {
    /// An object, because a job is large, and a version moves through three dictionaries.
    private final class Version {
        let value: Value
        init(_ value: Value) { self.value = value }
    }

    /// nil: the writer must read the row, because it was deleted or changed by a statement over a set of rows.
    private typealias Layer = [Key: Version?]

    private var committed: [Key: Version] = [:]
    private var group: Layer = [:]
    private var write: Layer = [:]
    /// The largest number of committed versions that are kept. Versions beyond it are read again.
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    /// The newest version; nil when the row must be read.
    subscript(key: Key) -> Value? {
        if let version = write[key] { return version?.value }
        if let version = group[key] { return version?.value }
        return committed[key]?.value
    }

    /// Notes the version that the write under way has read or written.
    mutating func note(_ value: Value, for key: Key) { write[key] = .some(Version(value)) }

    /// The write under way has deleted the row, or changed it without its value.
    mutating func forget(_ key: Key) { write[key] = .some(nil) }

    /// The version of the group commit under way; nil when it has none, or the row must be read.
    func ofGroup(_ key: Key) -> Value? { (group[key] ?? nil)?.value }

    mutating func keepWrite() {
        if group.isEmpty { swap(&group, &write) } else { group.merge(write) { $1 } }
        write.removeAll(keepingCapacity: true)
    }

    mutating func dropWrite() { write.removeAll(keepingCapacity: true) }

    mutating func dropGroup() {
        group.removeAll(keepingCapacity: true)
        dropWrite()
    }

    /// - Parameter isKept: whether the writer will probably need the row again.
    mutating func commit(where isKept: (Value) -> Bool) {
        for (key, version) in group {
            if let version, isKept(version.value), committed.count < limit || committed[key] != nil {
                committed[key] = version
            } else {
                committed[key] = nil
            }
        }
        group.removeAll(keepingCapacity: true)
    }

    /// Another node has changed these rows. The group begins.
    mutating func removeCommitted(_ keys: some Sequence<Key>) {
        for key in keys { committed[key] = nil }
    }

    mutating func removeAll() { (committed, group, write) = ([:], [:], [:]) }
}
