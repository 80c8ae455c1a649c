import Foundation
import TestKit

/// Real nodes on a real PostgreSQL server, with one key.
struct Cluster {
    let server: PostgresServer
    let nodes: [FetchdProcess]
    /// Of the nodes.
    private let ports: [ReservedPort]
    /// Of the key.
    private let folder: TemporaryFolder

    init(nodes count: Int, _ arguments: String...) async throws {
        var options = PostgresServer.Options()
        options.syncs = true
        (server, folder) = (try await PostgresServer(options), try TemporaryFolder())
        let key = try folder.write(Data((0..<32).map { UInt8($0) }).base64EncodedString(), to: "key")
        chmod(key, 0o600)
        ports = try (0..<count).map { _ in try ReservedPort() }
        var nodes: [FetchdProcess] = []
        for port in ports {
            let own = ["--listen", port.address, "--node-url", "http://\(port.address)"]
            nodes.append(
                try await FetchdProcess.start(
                    .init(arguments: ["--store", server.url(), "--key-file", key] + own + arguments)))
        }
        self.nodes = nodes
    }
}
