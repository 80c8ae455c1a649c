import Foundation

/// Rewrites all texts that can hold secrets in an SQLite database, in the transaction of the caller.
package struct SecretRows {
    private let db: SQLConnection

    package init(_ db: SQLConnection) { self.db = db }

    /// Opens each sealed text with a key of the ring, and seals it with the current one. Texts whose key is lost stay.
    package func reseal(with sealer: Sealer) throws {
        for column in SecretColumn.all {
            try rewrite(column) { text, row in try sealer.reseal(text, at: column.place(row)) }
        }
    }

    /// Replaces the texts of a column, some hundred rows at a time.
    ///
    /// - Parameter change: gets a text and the identifiers of its row, and returns the new text; nil leaves the row.
    private func rewrite(_ column: SecretColumn, _ change: (String, [String]) throws -> String?) throws {
        let read = """
            SELECT rowid AS number, \(column.name) AS text, \(column.identifiers.joined(separator: ", "))
            FROM \(column.table) WHERE rowid > ? AND \(column.name) IS NOT NULL ORDER BY rowid LIMIT 500
            """
        let write = "UPDATE \(column.table) SET \(column.name) = ? WHERE rowid = ?"
        var last: Int64 = .min
        while true {
            let rows = try db.rows(read, [last])
            guard let end = rows.last else { return }
            last = try end["number"]
            for row in rows {
                let text = try column.isBytes ? String(decoding: row["text"] as Data, as: UTF8.self) : row["text"]
                guard let next = try change(text, column.identifiers.map { try row[$0] }), next != text else {
                    continue
                }
                let value: any SQLValue = column.isBytes ? Data(next.utf8) : next
                try db.run(write, [value, row["number"] as Int64])
            }
        }
    }
}
