/// The move of a verified part to its destination. It is committed before the rename, so that fetchd can continue it
/// after a restart.
public struct Promotion: Sendable, Equatable, Codable {
    public var part: PartID
    /// The file's inode number. It distinguishes the renamed part from another file with that name.
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
