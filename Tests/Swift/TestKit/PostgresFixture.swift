import Foundation
import PostgresClient

/// An empty name space of a server's database: a store makes its tables there. It goes with the server.
public struct PostgresFixture: Sendable {
    /// The URL of the name space.
    public let url: String
    public let name: String

    /// - Parameter server: the URL of the database; nil: the shared server of the suite.
    public init(on server: String? = nil) throws {
        try self.init(on: server, name: "test_" + UUID().uuidString.lowercased().replacing("-", with: ""))
    }

    /// The name space of a service in this folder, also if it exists.
    init(on server: String, of folder: TemporaryFolder) throws {
        let name = URL(filePath: folder.path).lastPathComponent
        try self.init(on: server, name: name.lowercased().replacing("-", with: "_"))
    }

    private init(on server: String?, name: String) throws {
        let server = try server ?? PostgresServer.shared.socketURL
        self.name = name
        let connection = try PostgresConnection(to: PostgresTarget(url: server))
        try connection.execute(script: "CREATE SCHEMA IF NOT EXISTS \(name)")
        url = server + "?options=-csearch_path%3D" + name
    }

    public func connect() throws -> PostgresConnection { try PostgresConnection(to: PostgresTarget(url: url)) }
}
