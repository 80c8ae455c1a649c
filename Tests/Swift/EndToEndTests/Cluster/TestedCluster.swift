import Formats
import Foundation
import TestKit

/// A PostgreSQL server, and real services that share its database.
final class TestedCluster: Sendable {
    let server: PostgresServer
    let nodes: [FetchdProcess]
    /// The other nodes reach each node there, also after a restart.
    private let ports: [ReservedPort]
    private let folder: TemporaryFolder
    /// Of the first node to the server; nil if that is direct.
    let path: NetworkPath?

    /// - Parameters:
    ///   - count: of the nodes.
    ///   - arguments: of each node.
    ///   - environment: of the first node.
    ///   - path: makes the path of the first node to the server, from the server's port; nil: a direct one.
    init(
        of count: Int, _ arguments: [String] = [], environmentOfFirst environment: [String: String] = [:],
        pathOfFirst path: ((UInt16) throws -> NetworkPath)? = nil
    ) async throws {
        server = try await PostgresServer(.durable)
        folder = try TemporaryFolder()
        let key = folder.path("key")
        try Self.makeKey(key)
        ports = try (0..<count).map { _ in try ReservedPort() }
        let path = try path?(server.port)
        self.path = path
        var nodes: [FetchdProcess] = []
        for port in ports {
            let own = [
                "--store", server.url(over: nodes.isEmpty ? path?.port : nil), "--key-file", key, "--listen",
                port.address, "--node-url",
                "http://\(port.address)",
            ]
            let environment = nodes.isEmpty ? environment : [:]
            nodes.append(
                try await FetchdProcess.start(.init(arguments: own + arguments, environment: environment)))
        }
        self.nodes = nodes
    }

    private static func makeKey(_ path: String) throws {
        let bytes = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
        try Data(bytes.base64EncodedString().utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    /// For messages of failed tests.
    var logs: String { nodes.map(\.log).joined(separator: "\n") }

    /// Creates a job for each path of the origin.
    func submit(_ urls: [String], to node: Int = 0, session: String = "default") async throws -> [String] {
        let jobs = urls.map { ["url": .string($0), "session": .string(session)] as JSON }
        let answer = try await nodes[node].api.post("/v1/jobs/batch", ["jobs": .array(jobs)])
        guard answer.status == 201 else { throw Overdue("the jobs to be created: \(answer)") }
        return answer.json["jobs"].arrayValue?.compactMap { $0["id"].string } ?? []
    }

    /// Waits until so many jobs are in a state, as any node that answers sees them.
    func wait(for count: Int, _ state: String, atMost timeout: Duration = .patience) async throws {
        _ = try await eventually("\(count) jobs to be \(state)", atMost: timeout) { () -> Bool? in
            for node in nodes where node.isRunning {
                guard let answer = try? await node.api.get("/v1/jobs?state=\(state)&limit=1000"), answer.status == 200
                else { continue }
                if answer.json["jobs"].count >= count { return true }
            }
            return nil
        }
    }

    /// The number of the terminal events of each job.
    func endings(from node: FetchdProcess) async throws -> [String: Int] {
        let terminal: Set = ["job.succeeded", "job.failed", "job.cancelled"]
        let events = try await node.api.events()
        return events.reduce(into: [:]) { endings, event in
            guard let type = event["type"].string, terminal.contains(type), let job = event["job"].string else {
                return
            }
            endings[job, default: 0] += 1
        }
    }
}
