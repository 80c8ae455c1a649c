/// Where a sealed value is stored. The place is authenticated together with the value, so a sealed value that is copied
/// to another row, column or table cannot be opened there.
public struct SealedPlace: Sendable, Equatable {
    public var table: String
    public var column: String
    /// The identifier of the row.
    public var row: String

    public init(table: String, column: String, row: String) {
        self.table = table
        self.column = column
        self.row = row
    }

    var bytes: [UInt8] { Array("fetchd 1\0\(table)\0\(column)\0\(row)".utf8) }
}

extension SealedPlace: CustomStringConvertible {
    public var description: String { "\(table).\(column) of \(row)" }
}
