/// The columns of a table, each with the value that it has of a row. What a statement reads, inserts and changes follows from it.
struct RowColumns<Row: Sendable>: Sendable {
    /// When a row gets the value of a column.
    enum Role: Sendable {
        /// When it is inserted, and never another one.
        case fixed
        /// When it is inserted, and with each change.
        case initial
        /// With a change. A new row has the default of the column.
        case later
    }

    struct Item: Sendable {
        let column: Column
        let role: Role
        let hasChanged: @Sendable (Row, Row) -> Bool
        let value: @Sendable (Row, Transaction) throws -> SQLArguments.Value
    }

    private(set) var items: [Item] = []
    /// The names of the columns that are read, in the order of their positions.
    private(set) var read: [String] = []
    /// The position of the first column in the rows that are read.
    private let first: Int

    init(from first: Int = 0) { self.first = first }

    var columns: [Column] { items.map(\.column) }
    var inserted: [Item] { items.filter { $0.role != .later } }
    /// The position after the last column that is read.
    var end: Int { first + read.count }

    /// - Returns: the position of the column in the rows that are read.
    mutating func add<Value: SQLValue & Equatable>(
        _ column: Column, _ role: Role = .later, _ value: @escaping @Sendable (Row) -> Value?
    ) -> Int {
        addUnread(column, role, value)
        return place(column)
    }

    /// - Parameter isOther: whether a change of the row changes the value, which is expensive to make.
    mutating func add<Value: SQLValue>(
        _ column: Column, _ role: Role = .later, ifChanged isOther: @escaping @Sendable (Row, Row) -> Bool,
        _ value: @escaping @Sendable (Row, Transaction) throws -> Value?
    ) -> Int {
        addUnread(column, role, ifChanged: isOther, value)
        return place(column)
    }

    /// Adds a column that only conditions and indexes need.
    mutating func addUnread<Value: SQLValue & Equatable>(
        _ column: Column, _ role: Role = .later, _ value: @escaping @Sendable (Row) -> Value?
    ) {
        addUnread(column, role, ifChanged: { value($0) != value($1) }) { row, _ in value(row) }
    }

    mutating func addUnread<Value: SQLValue>(
        _ column: Column, _ role: Role = .later, ifChanged isOther: @escaping @Sendable (Row, Row) -> Bool,
        _ value: @escaping @Sendable (Row, Transaction) throws -> Value?
    ) {
        items.append(Item(column: column, role: role, hasChanged: isOther) { try value($0, $1) })
    }

    private mutating func place(_ column: Column) -> Int {
        read.append(column.name)
        return end - 1
    }

    /// The columns whose values differ. SQLite updates an index only if the statement names one of its columns, so a statement
    /// names no other column.
    func changes(from before: Row, to after: Row, in transaction: Transaction) throws -> RowChange {
        var change = RowChange()
        for item in items where item.role != .fixed && item.hasChanged(before, after) {
            change.columns.append(item.column.name)
            change.values.append(try item.value(after, transaction))
        }
        return change
    }
}
