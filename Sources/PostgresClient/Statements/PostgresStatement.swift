/// One SQL statement with its values for `$1`, `$2`, ...
public struct PostgresStatement: Sendable, Equatable {
    public var sql: String
    public var values: [PostgresValue]
    /// Whether each connection prepares the statement once. Not for a text that is seldom used twice.
    public var isPrepared: Bool

    public init(_ sql: String, _ values: [PostgresValue] = [], isPrepared: Bool = true) {
        self.sql = sql
        self.values = values
        self.isPrepared = isPrepared
    }
}
