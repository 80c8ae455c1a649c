/// Identifies a file on disk independently of its name.
public struct FileMark: Sendable, Equatable, Codable {
    public var inode: UInt64
    /// The creation time in nanoseconds since 1970; nil if the file system does not record it. The inode number alone
    /// is not enough, because file systems reuse free numbers at once.
    public var born: Int64?
    /// The time of the last write, in nanoseconds since 1970.
    public var modified: Int64

    public init(inode: UInt64, born: Int64?, modified: Int64) {
        self.inode = inode
        self.born = born
        self.modified = modified
    }

    /// Whether both marks belong to the same file, which may have been modified in between. If a creation time is
    /// missing, the inode number alone decides.
    public func isOfSameFile(as other: FileMark) -> Bool {
        guard inode == other.inode else { return false }
        guard let born, let others = other.born else { return true }
        return born == others
    }
}
