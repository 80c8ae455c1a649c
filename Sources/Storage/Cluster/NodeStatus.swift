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
    init(_ row: SQLRow) {
        let left: Int64? = row["lease_left"]
        self.init(
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
