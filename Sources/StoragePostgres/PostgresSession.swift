import Foundation
import PostgresClient
import Storage

/// A transaction or a snapshot on a connection to PostgreSQL.
///
/// Statements that return nothing are queued. They are sent with the next statement that returns something, or with the
/// commit, in one round trip.
final class PostgresSession: SQLSession {
    /// An error of a statement, which has ended the transaction.
    struct Failure {
        var error: PostgresError
        /// `owner` when the statement was given; nil if the error is not of one statement.
        var owner: Int?

        /// Whether the server accepts no changes.
        var isReadOnly: Bool {
            if case .statementFailed(let report, _) = error { report.condition == .readOnly } else { false }
        }
    }

    private let dialect: PostgresDialect
    private var transaction: PostgresTransaction
    private var queue: [(statement: PostgresStatement, owner: Int?)] = []
    /// The number of the write to which the next statements belong.
    var owner: Int?
    /// How often rows may have been changed.
    private(set) var changes = 0
    private(set) var failure: Failure?

    /// Nothing else uses the connection until `commit` or `rollBack`.
    init(_ connection: PostgresConnection, _ dialect: PostgresDialect, _ mode: PostgresTransaction.Mode) {
        self.dialect = dialect
        transaction = connection.begin(mode)
    }

    var isPostgres: Bool { true }

    func run(_ sql: String, _ arguments: SQLArguments) throws(PostgresError) {
        add(dialect.translation(of: sql), arguments)
        changes += 1
        if queue.count >= Self.longestQueue { try sendQueue() }
    }

    func changedRows(_ sql: String, _ arguments: SQLArguments) throws(PostgresError) -> Int {
        try result(sql, arguments).affectedRows
    }

    func row(_ sql: String, _ arguments: SQLArguments) throws(PostgresError) -> SQLRow? {
        let result = try result(sql, arguments)
        return result.first.map { SQLRow(PostgresColumns(row: $0, names: .init(result))) }
    }

    func rows(_ sql: String, _ arguments: SQLArguments) throws(PostgresError) -> [SQLRow] {
        PostgresColumns.rows(of: try result(sql, arguments))
    }

    func forEach(_ sql: String, _ arguments: SQLArguments, _ body: (SQLRow) throws -> Bool) throws {
        for row in try rows(sql, arguments) { guard try body(row) else { return } }
    }

    func value(_ sql: String, _ arguments: SQLArguments) throws(PostgresError) -> SQLScalar? {
        try result(sql, arguments).first?.optional(0)
    }

    func hasTable(_ name: String) throws -> Bool {
        try value("SELECT to_regclass(?) IS NOT NULL", [name]) == true.scalar
    }

    /// The rows of several queries in one round trip.
    func together(_ queries: [(sql: String, arguments: SQLArguments)]) throws(PostgresError) -> [[SQLRow]] {
        for query in queries { add(dialect.translation(of: query.sql), query.arguments) }
        return try sendQueue().suffix(queries.count).map(PostgresColumns.rows)
    }

    /// Sends what is queued, and commits. Nothing can follow.
    func commit() throws(PostgresError) {
        let sent = take()
        try noting(sent.map(\.owner)) { session throws(PostgresError) in
            _ = try session.transaction.commit(with: sent.map(\.statement))
        }
    }

    /// Forgets what is queued, and ends the transaction.
    func rollBack() {
        queue = []
        transaction.rollBack()
    }

    /// So that a large write does not need the memory of all its statements.
    private static let longestQueue = 500

    private func add(_ translation: PostgresDialect.Translation, _ arguments: SQLArguments) {
        queue.append((PostgresStatement(translation.sql, arguments.postgres(translation.parameters)), owner))
    }

    private func result(_ sql: String, _ arguments: SQLArguments) throws(PostgresError) -> PostgresResult {
        let translation = dialect.translation(of: sql)
        add(translation, arguments)
        guard let last = try sendQueue().last else { throw .rolledBack }
        if !translation.isQuery, last.affectedRows > 0 { changes += 1 }
        return last
    }

    @discardableResult
    private func sendQueue() throws(PostgresError) -> [PostgresResult] {
        let sent = take()
        return try noting(sent.map(\.owner)) { session throws(PostgresError) in
            try session.transaction.execute(sent.map(\.statement))
        }
    }

    private func take() -> [(statement: PostgresStatement, owner: Int?)] {
        defer { queue = [] }
        return queue
    }

    /// The server refuses all statements after one that has failed.
    private func noting<Value>(
        _ owners: [Int?], _ body: (PostgresSession) throws(PostgresError) -> Value
    ) throws(PostgresError) -> Value {
        if let failure { throw failure.error }
        do throws(PostgresError) {
            return try body(self)
        } catch {
            var owner: Int?
            if case .statementFailed(_, let index) = error, owners.indices.contains(index) { owner = owners[index] }
            failure = Failure(error: error, owner: owner)
            throw error
        }
    }
}

/// A row of a result, whose columns are found by name as well.
private struct PostgresColumns: SQLColumns {
    /// The result, and the numbers of its columns as far as they were looked for.
    final class Names {
        let result: PostgresResult
        private var numbers: [String: Int?] = [:]

        init(_ result: PostgresResult) { self.result = result }

        func number(of name: String) -> Int? {
            if let known = numbers[name] { return known }
            let number = result.column(named: name)
            numbers[name] = .some(number)
            return number
        }
    }

    let row: PostgresRow
    let names: Names

    static func rows(of result: PostgresResult) -> [SQLRow] {
        let names = Names(result)
        return result.map { SQLRow(PostgresColumns(row: $0, names: names)) }
    }

    func scalar(at column: Int) throws -> SQLScalar { try row.optional(column) ?? .null }

    func scalar(named column: String) throws -> SQLScalar {
        try names.number(of: column).map { try scalar(at: $0) } ?? .null
    }

    /// Bytes are shown by their number.
    var description: String {
        let values = names.result.columnNames.enumerated().map { "\($1):\(text($0))" }
        return "[\(values.joined(separator: " "))]"
    }

    private func text(_ column: Int) -> String {
        switch try? scalar(at: column) {
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): "\"\(text)\""
        case .bytes(let bytes): "\(bytes.count) bytes"
        case .null, nil: "NULL"
        }
    }
}

extension SQLScalar: PostgresDecodable {
    package init?(postgres field: PostgresField) {
        if let number = Int64(postgres: field) {
            self = .integer(number)
        } else if let text = String(postgres: field) {
            self = .text(text)
        } else if let number = Double(postgres: field) {
            self = .real(number)
        } else if let flag = Bool(postgres: field) {
            self = flag.scalar
        } else if let bytes = [UInt8](postgres: field) {
            self = .bytes(Data(bytes))
        } else {
            return nil
        }
    }

    /// As in a literal of PostgreSQL, without its quotes; nil for NULL. The server takes the type from the statement.
    var literal: String? {
        switch self {
        case .null: nil
        case .integer(let number): String(number)
        // The shortest text that gives the same number.
        case .real(let number): number.description
        // PostgreSQL stores no NUL in a text.
        case .text(let text): text.utf8.contains(0) ? text.replacing("\0", with: "\u{FFFD}") : text
        case .bytes(let bytes): Self.hexadecimal(bytes)
        }
    }

    private static func hexadecimal(_ bytes: Data) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text = Array("\\x".utf8)
        text.reserveCapacity(2 + 2 * bytes.count)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension SQLArguments {
    /// The values in the order in which PostgreSQL gets them.
    func postgres(_ parameters: [PostgresDialect.Parameter]) -> [PostgresValue] {
        let named = Dictionary(named.map { ($0.name, $0.value) }) { $1 }
        return parameters.map { parameter in
            switch parameter {
            case .position(let position):
                precondition(position < positional.count, "the statement has more parameters than values")
                return .inferred(positional[position]?.scalar.literal)
            case .name(let name):
                guard let value = named[name] else { preconditionFailure("the statement has no value for \(name)") }
                return .inferred(value?.scalar.literal)
            }
        }
    }
}
