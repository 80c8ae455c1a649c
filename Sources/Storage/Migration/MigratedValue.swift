import Foundation
import GRDB

/// A value of a row, as SQLite and PostgreSQL both have it.
enum MigratedValue: Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case bytes([UInt8])

    init(_ value: DatabaseValue) {
        switch value.storage {
        case .null: self = .null
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .real(number)
        case .string(let text): self = .text(text.literal)
        case .blob(let data): self = .bytes([UInt8](data))
        }
    }

    /// The memory of the value in bytes, approximately.
    var size: Int {
        switch self {
        case .null, .integer, .real: 8
        case .text(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        }
    }
}
