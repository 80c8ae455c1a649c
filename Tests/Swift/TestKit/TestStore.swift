import Foundation
import Testing

/// The database of the services that tests start: an SQLite file in the data folder of each, or a name space of each on a
/// PostgreSQL server.
///
/// `scripts/test --store postgres` runs the tests on PostgreSQL.
public enum TestStore {
    /// The URL of the server's database; nil: SQLite. A server for tests of the store alone needs no durable commits.
    public static var server: String? { ProcessInfo.processInfo.environment["FETCHD_TEST_STORE"] }

    /// The URL of the database of a service with this folder; nil: SQLite.
    static func url(for folder: TemporaryFolder) throws -> String? {
        try server.map { try PostgresFixture(on: $0, of: folder).url }
    }
}

extension Trait where Self == ConditionTrait {
    /// The test needs what only SQLite has, such as the database file, its plans, its connections, or a command for it.
    public static var onSQLite: Self { .enabled(if: TestStore.server == nil, "the store is on PostgreSQL") }

    /// The test needs what only PostgreSQL has, such as a table of the nodes.
    public static var onPostgres: Self { .enabled(if: TestStore.server != nil, "the store is on SQLite") }
}
