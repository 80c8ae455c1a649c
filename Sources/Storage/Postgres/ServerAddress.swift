import PostgresClient

/// The address of a PostgreSQL database, as a setting has it: `postgres://fetchd@db/fetchd`.
public struct ServerAddress: Sendable {
    /// It may have a password.
    public let url: String
    /// The address without a password.
    public let shown: String

    /// - Throws: `serverUnsuitable`.
    public init(_ url: String) throws(StoreError) {
        self.url = url
        do { shown = "postgres://" + (try PostgresTarget(url: url).description) } catch { throw StoreError(error) }
    }
}
