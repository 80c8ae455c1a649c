import Foundation
import GRDB
import PostgresClient

@testable import Storage

/// The rows of a database, except for what an upgrade may rewrite: sealed texts, counts, and records of the store about
/// itself.
struct StoredRows {
    typealias Values = [String: DatabaseValue]

    /// By the present names of the tables.
    private var tables: [String: [Values]] = [:]

    private static let rewritten: Set<String> = [
        "grdb_migrations", "sqlite_sequence", "schema_versions", "journal", "nodes", "sealing", "session_counts",
        "service_counts",
    ]

    init(readFrom db: Database) throws {
        let names = try String.fetchAll(
            db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
        for name in names where !Self.rewritten.contains(name) {
            let secrets = Self.secrets(of: name)
            tables[Self.presentName(of: name)] = try Row.fetchAll(db, sql: "SELECT * FROM \(name)").map { row in
                Dictionary(row.map { ($0.0, $0.1) }) { $1 }.filter { !secrets.contains($0.key) }
            }
        }
    }

    /// The values as PostgreSQL writes them as JSON.
    init(readFrom connection: PostgresConnection) throws {
        let names = try connection.execute(
            .init("SELECT table_name::text FROM information_schema.tables WHERE table_schema = current_schema()")
        ).map { try $0.value(0, as: String.self) }
        for name in names where !Self.rewritten.contains(name) {
            let secrets = Self.secrets(of: name)
            tables[Self.presentName(of: name)] = try connection.execute(
                .init("SELECT row_to_json(t)::text FROM \(name) AS t")
            ).map { row in
                let json = try JSONSerialization.jsonObject(with: Data(row.value(0, as: String.self).utf8))
                let values = (json as? [String: Any] ?? [:]).filter { !secrets.contains($0.key) }
                return values.mapValues { "\($0)".databaseValue }
            }
        }
    }

    private static func presentName(of table: String) -> String {
        Schema.tables.first { $0.formerName == table }?.name ?? table
    }

    private static func secrets(of table: String) -> Set<String> {
        Set(SecretColumn.all.filter { $0.table == table }.map(\.name))
    }

    var counts: [String: Int] { tables.mapValues(\.count) }

    /// The tables and columns of this database that the other one does not have with the same values.
    func differences(to other: StoredRows) -> [String] {
        tables.sorted { $0.key < $1.key }.flatMap { name, rows -> [String] in
            guard let others = other.tables[name] else { return ["The table \(name) is missing."] }
            guard let columns = rows.first.map({ Set($0.keys) }) else { return [] }
            let (left, right) = (Self.texts(rows, columns), Self.texts(others, columns))
            return left == right ? [] : ["The rows of \(name) differ: \(left) became \(right)."]
        }
    }

    private static func texts(_ rows: [Values], _ columns: Set<String>) -> [String] {
        rows.map { row in columns.sorted().map { "\($0)=\(row[$0]?.description ?? "missing")" }.joined(separator: " ") }
            .sorted()
    }
}
