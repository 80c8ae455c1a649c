import Downloads
import Foundation
import HTTPSemantics
import Sealing

/// Rewrites all texts that can hold secrets, in the transaction of the caller.
struct SecretRows {
    private let db: SQLConnection

    init(_ db: SQLConnection) { self.db = db }

    /// Seals what an earlier version has stored as plain text.
    func seal(with sealer: Sealer) throws {
        for column in SecretColumn.allCases {
            try rewrite(column) { text, row in
                Sealer.isSealed(text) ? nil : try sealer.sealed(text, in: column, of: row)
            }
        }
    }

    /// Opens each sealed text with a key of the ring, and seals it with the current one. Texts whose key is lost stay.
    func reseal(with sealer: Sealer) throws {
        for column in SecretColumn.allCases {
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
            last = end["number"]
            for row in rows {
                let text =
                    column == .idempotencyAnswer ? String(decoding: row["text"] as Data, as: UTF8.self) : row["text"]
                guard let next = try change(text, column.identifiers.map { row[$0] }), next != text else { continue }
                let value: any SQLValue = column == .idempotencyAnswer ? Data(next.utf8) : next
                try db.run(write, [value, row["number"] as Int64])
            }
        }
    }
}

extension Sealer {
    /// The text of a column as this version writes it, from the plain text of an earlier version.
    ///
    /// - Parameter row: the identifiers of the row.
    fileprivate func sealed(_ text: String, in column: SecretColumn, of row: [String]) throws -> String {
        switch column {
        // Most jobs have no secret, and to read a text takes much longer than to search it.
        case .jobSpec where !Self.mayHoldSecret(text), .jobPromotion where !Self.mayHoldSecret(text),
            .jobFinish where !Self.mayHoldSecret(text):
            text
        case .jobSpec: try self.text(Stored.spec(from: text), of: JobID(row[0]))
        case .jobPromotion: self.text(try Stored.value(Promotion.self, from: text), of: JobID(row[0]))
        case .jobFinish: self.text(try Stored.finish(from: text), of: JobID(row[0]))
        case .partURL: url(text, of: PartID(row[0]))
        case .sessionConfiguration:
            try self.text(Stored.value(SessionConfiguration.self, from: text), of: Name(trusted: row[0]))
        case .webhookURL: url(text, ofWebhook: Name(trusted: row[1]), Name(trusted: row[0]))
        case .webhookHeaders:
            try self.text(
                Stored.value([HeaderField].self, from: text), ofWebhook: Name(trusted: row[1]), Name(trusted: row[0]))
        case .webhookSecret, .webhookFormerSecrets:
            // An unreadable secret is sealed as it is.
            text.isEmpty || text == "[]"
                ? text : seal(text, known: column == .webhookSecret ? "" : "[]", at: column.place(row))
        case .idempotencyAnswer:
            // An answer shows the URLs of jobs.
            text.utf8.contains(UInt8(ascii: "?")) ? seal(text, known: "", at: column.place(row)) : text
        }
    }

    private static func mayHoldSecret(_ text: String) -> Bool {
        text.utf8.contains { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "#") }
            || ["\"headers\"", "\"credentials\"", "\"body\""].contains { text.contains($0) }
    }
}
