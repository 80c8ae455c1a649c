import GRDB

/// A database as SQL text, like the `.dump` of the sqlite3 shell.
enum DatabaseDump {
    static func text(of db: Database) throws -> String {
        let objects = try Row.fetchAll(
            db,
            sql: "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
        )
        let tables = objects.filter { $0["type"] == "table" }
        var lines: [String] = tables.map { "\($0["sql"] as String);" }
        for table in tables { lines += try rows(of: table["name"], in: db) }
        lines.append("DELETE FROM sqlite_sequence;")
        lines += try rows(of: "sqlite_sequence", in: db)
        lines += objects.filter { $0["type"] != "table" }.map { "\($0["sql"] as String);" }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Creates the database of a dump.
    static func load(_ text: String, into path: String) throws {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        let database = try DatabaseQueue(path: path, configuration: configuration)
        try database.write { try $0.execute(sql: text) }
        try database.close()
    }

    private static func rows(of table: String, in db: Database) throws -> [String] {
        let columns = try db.columns(in: table).map(\.name)
        let values = columns.map { "quote(\"\($0)\")" }.joined(separator: " || ', ' || ")
        let names = columns.map { "\"\($0)\"" }.joined(separator: ", ")
        return try String.fetchAll(db, sql: "SELECT \(values) FROM \(table)").map {
            "INSERT INTO \(table) (\(names)) VALUES (\($0));"
        }
    }
}
