/// The columns of a row that change. SQLite updates an index only if the statement names one of its columns, so a
/// statement names only the columns whose values differ.
struct RowChange {
    private(set) var columns: [StaticString] = []
    private(set) var values: [(any SQLValue)?] = []

    var isEmpty: Bool { columns.isEmpty }

    fileprivate var assignments: String { columns.map { "\($0) = ?" }.joined(separator: ", ") }

    mutating func set<Value: SQLValue & Equatable>(
        _ column: StaticString, from stored: Value?, to value: Value?
    ) {
        guard stored != value else { return }
        write(column, value)
    }

    mutating func write(_ column: StaticString, _ value: (some SQLValue)?) {
        columns.append(column)
        values.append(value)
    }
}

extension Transaction {
    /// Updates the row with the key, if there is a change.
    func update(_ table: StaticString, _ change: RowChange, where key: StaticString, is value: String) throws {
        guard !change.isEmpty else { return }
        try run("UPDATE \(table) SET \(change.assignments) WHERE \(key) = ?", SQLArguments(change.values + [value]))
    }

    /// Updates the row with the key, unless it has another revision.
    ///
    /// - Returns: whether it was updated.
    func update(
        _ table: StaticString, _ change: RowChange, where key: StaticString, is value: String, ofRevision revision: Int
    ) throws -> Bool {
        try changedRows(
            "UPDATE \(table) SET \(change.assignments) WHERE \(key) = ? AND revision = ?",
            SQLArguments(change.values + [value, revision])) == 1
    }
}
