import GRDB

/// The complete check of a database: every page, index and constraint, and every reference between rows.
enum IntegrityCheck {
    /// The number of findings of each kind that are reported.
    private static let most = 10

    /// - Returns: what is wrong, one text for each finding; empty if nothing is.
    static func findings(in db: Database) throws -> [String] {
        try damage(in: db) + brokenReferences(in: db)
    }

    private static func damage(in db: Database) throws -> [String] {
        do {
            let findings = try String.fetchAll(db, sql: "PRAGMA integrity_check(\(most))")
            return findings == ["ok"] ? [] : findings.map { $0.split(separator: "\n").joined(separator: " ") }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CORRUPT {
            return [error.message ?? "\(error)"]
        }
    }

    private static func brokenReferences(in db: Database) throws -> [String] {
        let violations = try Row.fetchCursor(db, sql: "PRAGMA foreign_key_check")
        var findings: [String] = []
        while findings.count < most, let violation = try violations.next() {
            let (table, parent) = (violation["table"] as String, violation["parent"] as String)
            findings.append("a row of \(table) refers to a missing row of \(parent)")
        }
        return findings
    }
}
