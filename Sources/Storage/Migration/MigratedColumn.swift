import PostgresClient

/// A column, with its type in both databases.
struct MigratedColumn: Equatable {
    enum Kind: String {
        case integer = "INTEGER"
        case real = "REAL"
        case text = "TEXT"
        case bytes = "BLOB"
    }

    var name: String
    var kind: Kind

    /// The values of this column in several rows, for `unnest`.
    ///
    /// - Parameter values: of the kind, or NULL.
    func array(_ values: [MigratedValue]) -> PostgresValue {
        switch kind {
        case .integer: .int8Array(values.map { if case .integer(let number) = $0 { number } else { nil } })
        case .real: .float8Array(values.map { if case .real(let number) = $0 { number } else { nil } })
        case .text: .textArray(values.map { if case .text(let text) = $0 { text } else { nil } })
        case .bytes: .byteaArray(values.map { if case .bytes(let bytes) = $0 { bytes } else { nil } })
        }
    }

    /// The value of this column in a row that PostgreSQL has returned.
    func value(_ row: PostgresRow, _ column: Int) throws(PostgresError) -> MigratedValue {
        switch kind {
        case .integer: try row.optional(column, as: Int64.self).map(MigratedValue.integer) ?? .null
        case .real: try row.optional(column, as: Double.self).map(MigratedValue.real) ?? .null
        case .text: try row.optional(column, as: String.self).map(MigratedValue.text) ?? .null
        case .bytes: try row.optional(column, as: [UInt8].self).map(MigratedValue.bytes) ?? .null
        }
    }
}
