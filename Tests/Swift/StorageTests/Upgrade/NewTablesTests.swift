import Foundation
import GRDB
import TestKit
import Testing

@testable import Storage
@testable import StorageSQLite

/// The tables that the values of `Schema` give to a new database are those of an upgraded one. The texts of the tables differ,
/// because SQLite appends added columns to them, so columns, indexes and conditions are compared.
@Suite struct NewTablesTests {
    private static func columns(_ db: Database) throws -> Set<String> {
        try descriptions(
            """
            SELECT t.name, c.* FROM sqlite_schema AS t JOIN pragma_table_xinfo(t.name) AS c WHERE t.type = 'table'
                AND t.name NOT LIKE 'sqlite%'
            """, in: db)
    }

    private static func indexes(_ db: Database) throws -> Set<String> {
        let columns = try descriptions(
            """
            SELECT t.name, l.name, l."unique", l.origin, l.partial, c.seqno, c.name, c."desc", c.coll, c.key
            FROM sqlite_schema AS t JOIN pragma_index_list(t.name) AS l JOIN pragma_index_xinfo(l.name) AS c
            WHERE t.type = 'table'
            """, in: db)
        let conditions = try Row.fetchAll(db, sql: "SELECT name, sql FROM sqlite_schema WHERE type = 'index'").map {
            row in
            let text = (row["sql"] as String?)?.split(separator: " WHERE ", maxSplits: 1).dropFirst().first ?? ""
            return "\(row["name"] as String): \(text.split { $0.isWhitespace }.joined(separator: " "))"
        }
        return columns.union(conditions)
    }

    private static func foreignKeys(_ db: Database) throws -> Set<String> {
        try descriptions(
            """
            SELECT t.name, f."table", f."from", f."to", f.on_update, f.on_delete FROM sqlite_schema AS t
            JOIN pragma_foreign_key_list(t.name) AS f WHERE t.type = 'table'
            """, in: db)
    }

    /// Each CHECK of each table, and whether the table is STRICT and WITHOUT ROWID.
    private static func conditions(_ db: Database) throws -> [String] {
        try Row.fetchAll(db, sql: "SELECT name, sql FROM sqlite_schema WHERE type = 'table'").flatMap { row in
            let (name, sql): (String, String) = (row["name"], row["sql"])
            let text = sql.split { $0.isWhitespace }.joined(separator: " ")
            let options = ["STRICT", "WITHOUT ROWID", "AUTOINCREMENT"].filter(text.contains)
            let checks = text.components(separatedBy: "CHECK ").dropFirst().map { Self.inParentheses($0) }
            return (checks + options).map { "\(name): \($0)" }
        }.sorted()
    }

    private static func inParentheses(_ text: String) -> String {
        var depth = 0
        return String(
            text.prefix { character in
                if character == "(" { depth += 1 }
                if character == ")" { depth -= 1 }
                return depth > 0
            })
    }

    private static func descriptions(_ sql: String, in db: Database) throws -> Set<String> {
        Set(
            try Row.fetchAll(db, sql: sql).map { row in
                row.filter { !["cid", "seq"].contains($0.0) }.map { "\($0.1)" }.joined(separator: " ")
            })
    }

    @Test(arguments: SchemaFixture.all.map(\.version)) func areThoseOfAnUpgradedDatabase(_ version: Int) async throws {
        let new = try DatabaseQueue()
        try Schema.migrator.migrate(new)
        let folder = try SchemaFixture(version: version).open()
        let upgraded = try DatabaseQueue(path: folder.path("fetchd.sqlite"))
        try Schema.migrator.migrate(upgraded)
        for read in [Self.columns, Self.indexes, Self.foreignKeys] {
            let (own, other) = (try await new.read(read), try await upgraded.read(read))
            #expect(!own.isEmpty && own.symmetricDifference(other) == [])
        }
        let (own, other) = (try await new.read(Self.conditions), try await upgraded.read(Self.conditions))
        #expect(own.count > 40 && own == other)
    }
}
