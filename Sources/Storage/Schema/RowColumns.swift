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

    /// - Parameter isRead: false for a column that only conditions and indexes need.
    /// - Returns: the position of the column in the rows that are read.
    @discardableResult
    mutating func add<Value: SQLValue & Equatable>(
        _ column: Column, _ role: Role = .later, isRead: Bool = true, _ value: @escaping @Sendable (Row) -> Value?
    ) -> Int {
        add(column, role, isRead: isRead, ifChanged: { value($0) != value($1) }) { row, _ in value(row) }
    }

    /// - Parameter isOther: whether a change of the row changes the value, which is expensive to make.
    @discardableResult
    mutating func add<Value: SQLValue>(
        _ column: Column, _ role: Role = .later, isRead: Bool = true,
        ifChanged isOther: @escaping @Sendable (Row, Row) -> Bool,
        _ value: @escaping @Sendable (Row, Transaction) throws -> Value?
    ) -> Int {
        items.append(Item(column: column, role: role, hasChanged: isOther) { try value($0, $1) })
        if isRead { read.append(column.name) }
        return end - 1
    }

    /// The columns whose values differ. SQLite updates an index only if the statement names one of its columns, so a statement
    /// names no other column.
    func changes(from before: Row, to after: Row, in transaction: Transaction) throws -> RowChange {
        var change = RowChange()
        // By index: a copy of each item would cost more than the comparison.
        for index in items.indices where items[index].role != .fixed && items[index].hasChanged(before, after) {
            change.columns.append(items[index].column.name)
            change.values.append(try items[index].value(after, transaction))
        }
        return change
    }
}
