import GRDB

/// The columns of a row that change. SQLite updates an index only if the statement names one of its columns, so a
/// statement names only the columns whose values differ.
struct RowChange {
    private(set) var columns: [StaticString] = []
    /// Not `DatabaseValue`s: GRDB takes those through a key path, which costs more than the values.
    private(set) var values: [(any DatabaseValueConvertible)?] = []

    var isEmpty: Bool { columns.isEmpty }

    mutating func set<Value: DatabaseValueConvertible & Equatable>(
        _ column: StaticString, from stored: Value?, to value: Value?
    ) {
        guard stored != value else { return }
        write(column, value)
    }

    mutating func write(_ column: StaticString, _ value: (some DatabaseValueConvertible)?) {
        columns.append(column)
        values.append(value)
    }
}

extension Transaction {
    /// Updates the row with the key, if there is a change.
    ///
    /// - Parameter revision: if given, only a row of this revision is updated.
    func update(
        _ table: StaticString, _ change: RowChange, where key: StaticString, is value: String,
        andRevision revision: Int? = nil
    ) throws {
        guard !change.isEmpty else { return }
        let assignments = change.columns.map { "\($0) = ?" }.joined(separator: ", ")
        var (condition, values) = ("\(key) = ?", change.values + [value])
        if let revision {
            condition += " AND revision = ?"
            values.append(revision)
        }
        try run("UPDATE \(table) SET \(assignments) WHERE \(condition)", StatementArguments(values))
    }
}
