import Foundation
import PostgresClient
import TestKit

/// Where the services of a property test have their jobs, and how many nodes each has.
struct StorePlace: Sendable {
    /// nil: SQLite, with one node.
    private let server: PostgresServer?
    private let nodes: Int
    /// Of the key, which all nodes of a service share.
    private let folder: TemporaryFolder

    /// - Parameter nodes: of each service; nil: it has its jobs in SQLite.
    init(nodes: Int?) async throws {
        var options = PostgresServer.Options.durable
        options.settings = ["max_connections = 500"]
        server = nodes == nil ? nil : try await PostgresServer(options)
        self.nodes = nodes ?? 1
        folder = try TemporaryFolder()
        let key = try folder.write(Data((0..<32).map { UInt8($0) }).base64EncodedString(), to: "key")
        chmod(key, 0o600)
    }

    struct Node {
        var arguments: [String] = []
        /// The other nodes reach it there.
        var port: ReservedPort?
    }

    /// The nodes of a new service, with a name space of its own in the server.
    func newNodes() throws -> [Node] {
        guard let server else { return [Node()] }
        let name = "service_" + UUID().uuidString.lowercased().replacing("-", with: "")
        let connection = try PostgresConnection(to: PostgresTarget(url: server.url()))
        try connection.execute(script: "CREATE SCHEMA \(name)")
        let common = ["--store", server.url("options=-csearch_path%3D\(name)"), "--key-file", folder.path("key")]
        return try (0..<nodes).map { _ in
            let port = try ReservedPort()
            let own = ["--listen", port.address, "--node-url", "http://\(port.address)"]
            return Node(arguments: common + own, port: port)
        }
    }
}
