import Foundation
import PostgresClient
import TestKit

/// An empty set of tables on the shared server, with a name space of its own. It goes with the server.
struct PostgresFixture {
    /// The URL of the name space.
    let url: String

    init() throws {
        let server = try PostgresServer.shared
        let name = "test_" + UUID().uuidString.lowercased().replacing("-", with: "")
        let connection = try PostgresConnection(to: PostgresTarget(url: server.socketURL))
        try connection.execute(script: "CREATE SCHEMA \(name)")
        url = server.socketURL + "?options=-csearch_path%3D" + name
    }

    func connect() throws -> PostgresConnection { try PostgresConnection(to: PostgresTarget(url: url)) }
}
