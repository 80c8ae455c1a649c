import Foundation
import PostgresClient
import TestKit
import Testing

/// An empty name space of a server's database: a store makes its tables there. It goes with the server.
struct PostgresFixture {
    /// The URL of the name space.
    let url: String
    let name: String

    /// - Parameter server: the URL of the database; nil: the shared server of the suite.
    init(on server: String? = nil) throws {
        let server = try server ?? PostgresServer.shared.socketURL
        name = "test_" + UUID().uuidString.lowercased().replacing("-", with: "")
        let connection = try PostgresConnection(to: PostgresTarget(url: server))
        try connection.execute(script: "CREATE SCHEMA \(name)")
        url = server + "?options=-csearch_path%3D" + name
    }

    func connect() throws -> PostgresConnection { try PostgresConnection(to: PostgresTarget(url: url)) }

    /// The URL of the database on which the tests of the store run; nil: they run on SQLite. A server for it needs no
    /// durable commits.
    static var storeServer: String? { ProcessInfo.processInfo.environment["FETCHD_TEST_STORE"] }
}

extension Trait where Self == ConditionTrait {
    /// The test needs what only SQLite has: the database file, its plans or its connections.
    static var onSQLite: Self { .enabled(if: PostgresFixture.storeServer == nil, "the store is on PostgreSQL") }
}
