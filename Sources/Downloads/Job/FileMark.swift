/// A file on disk, whatever its name.
public struct FileMark: Sendable, Equatable, Codable {
    public var inode: UInt64
    /// When it was made, in nanoseconds since 1970, where the file system keeps that: inode numbers are given again as
    /// soon as they are free.
    public var born: Int64?
    /// When its bytes were last written, in nanoseconds since 1970.
    public var modified: Int64

    public init(inode: UInt64, born: Int64?, modified: Int64) {
        self.inode = inode
        self.born = born
        self.modified = modified
    }

    /// Whether both are of one file, which may have been written to in between.
    public func isOfSameFile(as other: FileMark) -> Bool {
        guard inode == other.inode else { return false }
        guard let born, let others = other.born else { return true }
        return born == others
    }
}
