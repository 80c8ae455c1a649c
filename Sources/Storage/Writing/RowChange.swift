import GRDB

/// The columns of a row that change. SQLite updates an index only if the statement names one of its columns, so a
/// statement names only the columns whose values differ.
struct RowChange {
    private(set) var columns: [StaticString] = []
    private(set) var values: [DatabaseValue] = []

    var isEmpty: Bool { columns.isEmpty }

    mutating func set<Value: DatabaseValueConvertible & Equatable>(
        _ column: StaticString, from stored: Value?, to value: Value?
    ) {
        guard stored != value else { return }
        write(column, value)
    }

    mutating func write(_ column: StaticString, _ value: (some DatabaseValueConvertible)?) {
        columns.append(column)
        values.append(value?.databaseValue ?? .null)
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
        var (condition, values) = ("\(key) = ?", change.values + [value.databaseValue])
        if let revision {
            condition += " AND revision = ?"
            values.append(revision.databaseValue)
        }
        try run("UPDATE \(table) SET \(assignments) WHERE \(condition)", StatementArguments(values))
    }
}
