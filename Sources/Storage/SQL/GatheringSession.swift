/// The columns of a row that change, and their values.
struct RowChange {
    var columns: [String] = []
    var values: [SQLArguments.Value] = []

    var isEmpty: Bool { columns.isEmpty }
}

extension RowChange: Equatable {
    static func == (first: RowChange, second: RowChange) -> Bool {
        first.columns == second.columns
            && first.values.elementsEqual(second.values) { ($0?.scalar ?? .null) == ($1?.scalar ?? .null) }
    }
}

/// The session of a transaction. It changes rows that get the same values one after another with one statement, because a
/// statement costs as much as several rows: a hundred queued jobs that are cancelled differ in their identifiers only.
///
/// An update waits until an update that differs, or any other statement. So each statement sees all updates before it, and
/// the rows change in their order.
final class GatheringSession: SQLSession {
    /// Rows of one table that get the same values.
    private struct Update {
        let table: String
        let change: RowChange
        var ids: [String]

        func makes(_ change: RowChange, in table: String) -> Bool { self.table == table && self.change == change }
    }

    private let session: any SQLSession
    private var waiting: Update?

    init(of connection: SQLConnection) { session = connection.session }

    /// Updates the row with the identifier, if there is a change.
    func update(_ table: String, _ change: RowChange, id: String) throws {
        guard !change.isEmpty else { return }
        if waiting?.makes(change, in: table) == true {
            waiting?.ids.append(id)
        } else {
            try flush()
            waiting = Update(table: table, change: change, ids: [id])
        }
    }

    /// Makes the updates that wait. A transaction ends with it.
    func flush() throws {
        guard let update = waiting.take() else { return }
        for ids in RowInsertion.chunks(update.ids) { try run(update, ids) }
    }

    private func run(_ update: Update, _ ids: ArraySlice<String>) throws {
        let assignments = update.change.columns.map { "\($0) = ?" }.joined(separator: ", ")
        let places = ids.map { _ in "?" }.joined(separator: ", ")
        try session.run(
            "UPDATE \(update.table) SET \(assignments) WHERE id IN (\(places))",
            SQLArguments(update.change.values + Array(ids)))
    }

    var isPostgres: Bool { session.isPostgres }

    func run(_ sql: String, _ arguments: SQLArguments) throws { try flushed().run(sql, arguments) }

    func changedRows(_ sql: String, _ arguments: SQLArguments) throws -> Int {
        try flushed().changedRows(sql, arguments)
    }

    func row(_ sql: String, _ arguments: SQLArguments) throws -> SQLRow? { try flushed().row(sql, arguments) }
    func rows(_ sql: String, _ arguments: SQLArguments) throws -> [SQLRow] { try flushed().rows(sql, arguments) }

    func forEach(_ sql: String, _ arguments: SQLArguments, _ body: (SQLRow) throws -> Bool) throws {
        try flushed().forEach(sql, arguments, body)
    }

    func value(_ sql: String, _ arguments: SQLArguments) throws -> SQLScalar? { try flushed().value(sql, arguments) }
    func hasTable(_ name: String) throws -> Bool { try session.hasTable(name) }

    private func flushed() throws -> any SQLSession {
        try flush()
        return session
    }
}
