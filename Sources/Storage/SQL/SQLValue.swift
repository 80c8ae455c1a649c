import Foundation
import GRDB

/// A type that statements take as a value, and that columns are read as.
protocol SQLValue: DatabaseValueConvertible, StatementColumnConvertible, Sendable {}

extension Int: SQLValue {}
extension Int64: SQLValue {}
/// Stored as 0 or 1.
extension Bool: SQLValue {}
extension Double: SQLValue {}
extension String: SQLValue {}
extension Data: SQLValue {}
