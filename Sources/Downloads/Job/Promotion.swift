/// A verified part on its way to its destination; committed before the rename, so that a restart can carry it on.
public struct Promotion: Sendable, Equatable, Codable {
    public var part: PartID
    /// The file's inode number: tells the part, already renamed, from another file of that name.
    public var inode: UInt64
    public var conflict: Destination.Conflict
    public var file: FinishedFile
    public var receipt: Receipt

    public init(
        part: PartID, inode: UInt64, conflict: Destination.Conflict, file: FinishedFile, receipt: Receipt
    ) {
        self.part = part
        self.inode = inode
        self.conflict = conflict
        self.file = file
        self.receipt = receipt
    }
}
