import Foundation

/// How many rows of each kind have sealed values. Without the key, these values are lost.
public struct LostSecrets: Sendable, Equatable {
    private let counts: [String: Int]

    /// Reads the texts of whole tables, so only a start without the right key does it.
    init(_ db: SQLConnection) throws {
        let tables = Dictionary(grouping: SecretColumn.allCases, by: \.table)
        counts = try tables.mapValues { columns in
            let conditions = columns.map { $0 == .idempotencyAnswer ? Self.isSealedAnswer : "\($0.name) LIKE ?1" }
            let mark: any SQLValue = columns.contains(.idempotencyAnswer) ? Data([UInt8(ascii: "\n")]) : "%\n"
            let count = "SELECT count(*) FROM \(columns[0].table) WHERE \(conditions.joined(separator: " OR "))"
            return try db.value(count, [mark]) ?? 0
        }
    }

    private static let isSealedAnswer = "substr(answer, length(answer), 1) = ?1"

    public var isEmpty: Bool { counts.values.allSatisfy { $0 == 0 } }

    /// For sentences: `3 jobs, 1 session and 2 webhooks`.
    var listed: String {
        let kinds = [
            ("jobs", "job"), ("sessions", "session"), ("webhooks", "webhook"), ("parts", "part of a job"),
            ("idempotency_keys", "answer to a repeated request"),
        ]
        let texts = kinds.compactMap { table, name -> String? in
            guard let count = counts[table], count > 0 else { return nil }
            return count == 1 ? "1 \(name)" : "\(count) \(Self.plural[table] ?? "\(name)s")"
        }
        return texts.count < 2
            ? texts.joined() : texts.dropLast().joined(separator: ", ") + " and " + texts[texts.count - 1]
    }

    private static let plural = ["parts": "parts of jobs", "idempotency_keys": "answers to repeated requests"]

    /// What happens to the rows, as a sentence.
    static let consequence =
        "Jobs that need these secrets then wait for credentials, and webhooks that need them are disabled."

    /// Why a start without the key is refused, and what to do.
    ///
    /// - Parameters:
    ///   - database: its name.
    ///   - file: the missing key file.
    public func refusal(ofDatabase database: String, without file: String) -> String {
        "The secrets \(isEmpty ? "" : "of \(listed) ")in \(database) are sealed with a key, and the key file \(file) is missing. Put the key back: copy it from where this database was used, or name the key with --key-file. If the key is lost, start fetchd once with --accept-lost-secrets. \(Self.consequence)"
    }
}
