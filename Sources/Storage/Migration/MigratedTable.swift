import GRDB
import PostgresClient

/// A table that both databases have, with the same columns.
struct MigratedTable: Equatable {
    var name: String
    var columns: [MigratedColumn]
    /// The places of the columns of the primary key; empty for a table with one row.
    var key: [Int]
    /// The largest number that the table has ever given to a row; nil if it gives none.
    var lastNumber: Int64?

    /// The tables of a database of the present schema. A table follows the tables that it refers to.
    static func all(in db: Database) throws -> [MigratedTable] {
        let names = try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
        let own = names.filter { !ofSQLite.contains($0) }
        let others = own.filter { !referenced.contains($0) }
        return try (referenced + others).map { try MigratedTable($0, in: db) }
    }

    /// What only SQLite needs.
    private static let ofSQLite: Set = ["grdb_migrations"]
    private static let referenced = ["sessions", "batches", "jobs", "webhooks", "deliveries"]

    private init(_ name: String, in db: Database) throws {
        self.name = name
        columns = try db.columns(in: name).map { column in
            guard let kind = MigratedColumn.Kind(rawValue: column.type) else {
                throw StoreError.failed(why: "the column \(name).\(column.name) has the type \(column.type)")
            }
            return MigratedColumn(name: column.name, kind: kind)
        }
        let key = try db.primaryKey(name).columns
        self.key = columns.indices.filter { [columns] in key.contains(columns[$0].name) }
        lastNumber = try Int64.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = ?", arguments: [name])
    }

    /// Makes a job that runs, or that has succeeded, one of this node: it has the part or the file.
    ///
    /// - Parameter row: of any table.
    func assign(_ row: inout [MigratedValue], to node: Int64) {
        guard name == "jobs", let place = columns.firstIndex(where: { $0.name == "node" }),
            let state = columns.firstIndex(where: { $0.name == "state" })
        else { return }
        if [.text("running"), .text("succeeded")].contains(row[state]) { row[place] = .integer(node) }
    }

    /// The statement that reads all rows from SQLite.
    var selection: String { "SELECT \(list(columns)) FROM \"\(name)\"" }

    /// The statement that adds rows to the table of PostgreSQL.
    func insertion(of rows: [[MigratedValue]]) -> PostgresStatement {
        let arrays = columns.indices.map { column in columns[column].array(rows.map { $0[column] }) }
        return PostgresStatement(
            "INSERT INTO \"\(name)\" (\(list(columns))) SELECT * FROM unnest(\(Self.parameters(arrays.count)))", arrays)
    }

    /// The statement that reads the rows with the keys of these rows from PostgreSQL.
    func selection(of rows: [[MigratedValue]]) -> PostgresStatement {
        guard !key.isEmpty else { return PostgresStatement(selection) }
        let keys = key.map { column in columns[column].array(rows.map { $0[column] }) }
        return PostgresStatement(
            """
            \(selection) WHERE (\(list(key.map { columns[$0] })))
            IN (SELECT * FROM unnest(\(Self.parameters(keys.count))))
            """, keys)
    }

    /// The values of a row that `selection` has returned.
    func values(_ row: PostgresRow) throws(PostgresError) -> [MigratedValue] {
        var values: [MigratedValue] = []
        for (index, column) in columns.enumerated() { values.append(try column.value(row, index)) }
        return values
    }

    private func list(_ columns: [MigratedColumn]) -> String {
        columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
    }

    private static func parameters(_ count: Int) -> String {
        (1...count).map { "$\($0)" }.joined(separator: ", ")
    }
}
