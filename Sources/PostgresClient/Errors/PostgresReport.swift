/// An error as the server or libpq has reported it.
///
/// The server's DETAIL and HINT are left out: they quote values of rows, which can be secret.
public struct PostgresReport: Sendable, Equatable, CustomStringConvertible {
    /// The class of the error, which a caller can handle.
    public var condition: PostgresCondition
    /// The five letters of the server (PostgreSQL's documentation, appendix A); nil if the error is not from the server.
    public var sqlState: String?
    /// For people. It can be in the language of the server.
    public var message: String
    /// The violated constraint or unique index.
    public var constraint: String?
    /// The table of the constraint.
    public var table: String?

    public init(
        _ condition: PostgresCondition, sqlState: String? = nil, message: String, constraint: String? = nil,
        table: String? = nil
    ) {
        self.condition = condition
        self.sqlState = sqlState
        self.message = message
        self.constraint = constraint
        self.table = table
    }

    public var description: String { sqlState.map { "\(message) (\($0))" } ?? message }
}
