import Downloads
import Foundation

/// A service that shares the database, as the database knows it.
public struct NodeStatus: Sendable, Equatable {
    /// The identifier in the data folder of the node.
    public var id: String
    public var node: Node
    /// Where other nodes reach its API; nil: they do not.
    public var url: String?
    public var version: String
    /// Whether it uses the same downloads folder as other nodes.
    public var sharesDownloads: Bool
    /// The start of its present process, or of the last one.
    public var startedAt: Date
    /// The seconds until other nodes may take over its work, below zero if they may already; nil: it has stopped, or they have.
    public var leaseSeconds: Double?
    public var isLeader: Bool
    public var isDraining: Bool
    /// The largest number of jobs that run on it at once.
    public var slots: Int
    /// The jobs that run on it.
    public var running: Int

    public enum State: String, Sendable, CaseIterable {
        case running
        /// It stops, and hands its jobs over.
        case draining
        /// Its lease has ended, and other nodes have not taken over its work yet.
        case away
        /// It has ended, or other nodes have taken over its work.
        case stopped
    }

    public var state: State {
        guard let leaseSeconds else { return .stopped }
        if leaseSeconds <= 0 { return .away }
        return isDraining ? .draining : .running
    }
}

extension NodeStatus {
    /// - Parameter row: of `Store.nodes`.
    init(_ row: SQLRow) throws {
        let left: Int64? = try row["lease_left"]
        try self.init(
            id: row["id"], node: Node(number: row["number"], epoch: row["epoch"]), url: row["url"],
            version: row["version"], sharesDownloads: row["downloads"] as String == "shared",
            startedAt: Date(milliseconds: row["started_at"]), leaseSeconds: left.map { Double($0) / 1000 },
            isLeader: row["is_leader"], isDraining: row["is_draining"], slots: row["slots"], running: row["running"])
    }
}

extension NodeStatus {
    /// What is wrong with the addresses at which the nodes reach each other, in sentences for the log. It cannot be refused, because the
    /// other nodes can be about to stop.
    ///
    /// - Parameters:
    ///   - nodes: all nodes.
    ///   - number: of this node, which starts.
    public static func advice(on nodes: [NodeStatus], for number: Int64) -> [String] {
        guard let this = nodes.first(where: { $0.node.number == number }) else { return [] }
        let others = nodes.filter { $0.node.number != number && $0.state != .stopped }
        var advice = others.filter { $0.url != nil && $0.url == this.url }.map {
            "Node \($0.node.number) has the same --node-url as this one, \($0.url ?? ""). The nodes cannot fetch files from both. Give each node an address of its own."
        }
        let silent = (others.isEmpty ? [] : [this]) + others
        // With a shared folder, each node has all files.
        advice += silent.filter { $0.url == nil && !$0.sharesDownloads }.map {
            let name = $0.node.number == number ? "This node" : "Node \($0.node.number)"
            return
                "\(name) has no --node-url, and other nodes use the database: they answer 503 to requests for the files that \(name.lowercasedFirst) has downloaded. Start it with --node-url."
        }
        return advice
    }
}

extension String {
    fileprivate var lowercasedFirst: String { prefix(1).lowercased() + dropFirst() }
}

extension Store {
    /// The services that share the database or have shared it, by their numbers; empty in a database of its own.
    public func nodes() async throws(StoreError) -> [NodeStatus] {
        guard node != nil else { return [] }
        return try await read { db in try db.map(Self.selectNodes) { try NodeStatus($0) } }
    }

    /// Where other nodes reach a node; nil: it has no URL.
    ///
    /// - Throws: `noSuchNode`.
    public func url(ofNode number: Int64) async throws(StoreError) -> String? {
        guard node != nil else { throw .noSuchNode(number) }
        return try await read { db in
            guard let row = try db.row("SELECT url FROM nodes WHERE number = ?", [number]) else {
                throw StoreError.noSuchNode(number)
            }
            return try row["url"] as String?
        }
    }

    /// Removes a node that never returns, and what it should have removed from its folder. If it returns, it is a new node.
    ///
    /// - Throws: `noSuchNode`; `nodeInUse` while it has a lease or jobs.
    public func forgetNode(_ number: Int64, audit note: AuditNote? = nil) async throws {
        guard node != nil else { throw StoreError.noSuchNode(number) }
        try await writer.write { transaction in
            try transaction.forgetNode(number)
            try transaction.audit(note)
        }
    }

    private static let selectNodes = """
        SELECT nodes.*, nodes.expires_at - \(PostgresNode.now) AS lease_left,
            CASE WHEN nodes.number = (SELECT leader FROM journal) THEN 1 ELSE 0 END AS is_leader,
            (SELECT count(*) FROM jobs WHERE state = 'running' AND jobs.node = nodes.number) AS running
        FROM nodes ORDER BY nodes.number
        """
}

extension Transaction {
    /// Only for PostgreSQL.
    ///
    /// - Throws: `noSuchNode`, `nodeInUse`.
    func forgetNode(_ number: Int64) throws {
        guard let use = try row(Self.nodeUse, [number]) else { throw StoreError.noSuchNode(number) }
        if try use["has_lease"] as Bool { throw StoreError.nodeInUse(number, why: "it has a lease. Stop it first") }
        if try use["has_jobs"] as Bool {
            throw StoreError.nodeInUse(number, why: "other nodes have not taken over its jobs yet")
        }
        let tables = [
            "removals", "attempt_requests", "additional_connections", "webhook_leases", "progress", "last_commits",
        ]
        for table in tables {
            try run("DELETE FROM \(table) WHERE node = ?", [number])
        }
        try run("UPDATE journal SET first_node = NULL WHERE first_node = ?", [number])
        try run("DELETE FROM nodes WHERE number = ?", [number])
        // Another node can take its leases of webhooks.
        wake(.deliveries)
    }

    private static let nodeUse = """
        SELECT expires_at IS NOT NULL AS has_lease,
            EXISTS (SELECT 1 FROM jobs WHERE state = 'running' AND jobs.node = nodes.number) AS has_jobs
        FROM nodes WHERE number = ?
        """
}

/// Parts and files without a node are older than the nodes: of a service with SQLite, or of version 0.2.0. They are in the folder
/// of one machine.
extension Store {
    /// The number of the node that has the parts and the files without a node; nil: it is not known, or this is a database of one
    /// service.
    public var firstNode: Int64? { engine.firstNode }

    /// Parts and finished files without a node, at most 1,000 of each, the latest first.
    public func filesWithoutNode() async throws(StoreError) -> (parts: [PartID], files: [FinishedFile]) {
        guard node != nil else { return ([], []) }
        return try await read { [sealer] db in
            let parts = try db.rows(Self.partsWithoutNode).map { try PartID($0["id"]) }
            let jobs = try db.rows(Self.jobsWithoutNode).map { try JobID($0["id"]) }
            let files = try jobs.compactMap { try JobRow.job($0, in: db, sealer)?.state.finish?.file }
            return (parts, files)
        }
    }

    /// Makes this node the first node, unless another one is it already.
    public func becomeFirstNode() async throws {
        guard let node else { return }
        let first = try await writer.write { transaction in
            try transaction.run("UPDATE journal SET first_node = coalesce(first_node, ?)", [node.number])
            return try transaction.firstNode()
        }
        if let first { engine.note(firstNode: first) }
    }

    private static let partsWithoutNode =
        "SELECT id FROM parts WHERE id NOT LIKE '%-%' ORDER BY id DESC LIMIT 1000"
    private static let jobsWithoutNode =
        "SELECT id FROM jobs WHERE node IS NULL AND state = 'succeeded' ORDER BY id DESC LIMIT 1000"
}

extension Transaction {
    /// See `Store.firstNode`. Only for PostgreSQL.
    func firstNode() throws -> Int64? {
        try row("SELECT first_node FROM journal").flatMap { try $0["first_node"] as Int64? }
    }
}
