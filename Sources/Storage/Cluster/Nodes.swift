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
        SELECT nodes.*, nodes.expires_at - \(ServerTime.now) AS lease_left,
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
            "file_deletions", "node_commands", "additional_connections", "webhook_leases", "node_progress",
            "last_commits",
        ]
        for table in tables { try run("DELETE FROM \(table) WHERE node = ?", [number]) }
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
    public var firstNode: Int64? { engine.cluster?.firstNode }

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
        if let first { engine.cluster?.note(firstNode: first) }
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

/// What a node has taken over from others.
public struct Takeover: Sendable {
    /// The numbers of the nodes whose leases had ended.
    public var nodes: [Int64] = []
    /// Jobs that are queued again.
    public var queued = 0
    /// Jobs whose files were being promoted. This node continues that: see `Store.ownPromotions`.
    public var promoting = 0
    /// Whether this node leads from now on.
    public var leads = false
    /// Whether nothing is left to take over.
    public var isComplete = true
}

extension Store {
    /// Takes over the work of nodes whose leases have ended, and leads if no node does. Call it again until it is
    /// complete, and only while the workers of the leader run.
    public func takeOverNodes() async throws -> Takeover {
        guard node != nil else { return Takeover() }
        let noteLead = { @Sendable [engine] (takeover: Takeover) in if takeover.leads { engine.cluster?.noteLead() } }
        return try await writer.write(onCommit: noteLead) { [engine, sharesDownloads = options.node.sharesDownloads] in
            // The write may have waited long.
            try $0.takeOverNodes(at: engine.cluster?.takeoverTime, sharesDownloads: sharesDownloads, limit: 500)
        }
    }

    /// The jobs that are being promoted, and that belong to this node.
    ///
    /// - Parameter isIncluded: called on the writer's thread, between the commits of this node.
    public func ownPromotions(
        where isIncluded: @escaping @Sendable (JobID) -> Bool = { _ in true }
    ) async throws -> [AdmittedJob] {
        guard node != nil else { return [] }
        return try await writer.write { try $0.ownPromotions().filter { isIncluded($0.job.id) } }
    }
}

/// Takes over the work of nodes whose leases have ended.
extension Transaction {
    /// - Parameters:
    ///   - time: see `Cluster.takeoverTime`. nil: only the work of nodes without a lease is taken over.
    ///   - sharesDownloads: whether this node has the part files of the others.
    ///   - limit: the number of jobs.
    func takeOverNodes(at time: Int64?, sharesDownloads: Bool, limit: Int) throws -> Takeover {
        guard let node else { return Takeover() }
        var takeover = Takeover()
        if let time { takeover.nodes = try endLeases(at: time, by: node) }
        takeover.leads = try changedRows(Self.lead, [node.number]) > 0
        try endWebhookLeasesOfEndedNodes()
        try interruptImportsOfEndedNodes()
        let left = try jobs(
            JobRow.select + """
                WHERE jobs.state = 'running'
                    AND jobs.node NOT IN (SELECT number FROM nodes WHERE expires_at IS NOT NULL)
                ORDER BY jobs.id LIMIT ?
                """, [limit])
        for job in left { try takeOver(job, by: node, sharesDownloads, &takeover) }
        takeover.isComplete = left.count < limit
        if !left.isEmpty { wake(.jobs) }
        return takeover
    }

    /// This node leads if no node with a lease does.
    private static let lead = """
        UPDATE journal SET leader = ? WHERE leader IS NULL
            OR leader NOT IN (SELECT number FROM nodes WHERE expires_at IS NOT NULL)
        """

    /// The jobs that are being promoted, and that belong to this node.
    func ownPromotions() throws -> [AdmittedJob] {
        guard let node else { return [] }
        return try jobs(
            JobRow.select + "WHERE jobs.state = 'running' AND jobs.promotion IS NOT NULL AND jobs.node = ?",
            [node.number]
        ).map(admitted)
    }

    /// Jobs without a node were admitted by a version that had the database for itself.
    func ownRunningJobs() throws -> [Job] {
        let running = JobRow.select + "WHERE jobs.state = 'running'"
        guard let node else { return try jobs(running) }
        return try jobs(running + " AND (jobs.node = ? OR jobs.node IS NULL)", [node.number])
    }

    /// A process that has one of these leases cannot commit from now on.
    ///
    /// If the lease of this node has ended as well, the server's clock has jumped, and the others may live as this one does.
    private func endLeases(at time: Int64, by node: Node) throws -> [Int64] {
        let ended = try rows(Self.endedNodes, [node.number, time]).map { try $0["number"] as Int64 }
        for number in ended {
            try run("UPDATE nodes SET epoch = epoch + 1, expires_at = NULL WHERE number = ?", [number])
            try run("DELETE FROM additional_connections WHERE node = ?", [number])
            try run("DELETE FROM node_commands WHERE node = ?", [number])
        }
        // Queued jobs whose parts these nodes have begin again elsewhere.
        if !ended.isEmpty { wake(.jobs) }
        return ended
    }

    private static let endedNodes = """
        SELECT number FROM nodes WHERE number <> ?1 AND \(ServerTime.hasEnded("expires_at", own: "?2"))
            AND EXISTS (
                SELECT 1 FROM nodes AS this
                WHERE this.number = ?1 AND NOT \(ServerTime.hasEnded("this.expires_at", own: "?2")))
        ORDER BY number FOR UPDATE
        """

    /// Queues the job again. If its file was being promoted, this node continues that, if it has the file.
    private func takeOver(_ job: Job, by node: Node, _ sharesDownloads: Bool, _ takeover: inout Takeover) throws {
        guard let promotion = job.state.finalizePlan else {
            _ = try transitionJob(job, on: .attemptInterrupted)
            takeover.queued += 1
            return
        }
        if sharesDownloads {
            var job = job
            job.node = node.number
            try save(job)
            takeover.promoting += 1
        } else {
            // The former node may have moved the file to its place before it ended.
            try dropFile(promotion.file, of: job.node)
            let why = Failure(.storageError, "The node that had the file has ended.", attempts: job.attempts, at: now)
            let report = AttemptReport(hasLostPart: true)
            let wait = Wait(.storage(until: now), cause: why, location: promotion.file.location ?? .default)
            _ = try applySignal(.attemptDeferred(wait), to: job.id, report)
            takeover.queued += 1
        }
    }
}

/// A job that runs at this node, as the database has it.
public struct OwnJob: Sendable, Hashable {
    public var job: JobID
    /// See `Job.admissions`.
    public var admission: Int
    /// Whether its file is being promoted.
    public var isPromoting: Bool
}

extension Store {
    /// The jobs that run at this node, as the database has them; none in a database of one service.
    public func ownJobs() async throws(StoreError) -> Set<OwnJob> {
        guard let node else { return [] }
        return try await read { db in
            Set(
                try db.rows(Self.selectOwnJobs, [node.number]).map { row in
                    try OwnJob(job: JobID(row["id"]), admission: row["admissions"], isPromoting: row["is_promoting"])
                })
        }
    }

    /// Queues jobs of this node again that have no attempt. It costs them neither an attempt nor a delay, as a stop of the service.
    ///
    /// - Parameter isIncluded: called on the writer's thread, between the commits of this node. The other jobs are left out.
    /// - Returns: the number of queued jobs.
    public func interrupt(
        _ jobs: Set<OwnJob>, where isIncluded: @escaping @Sendable (OwnJob) -> Bool
    ) async throws -> Int {
        guard node != nil, !jobs.isEmpty else { return 0 }
        return try await writer.write { transaction in
            let own = jobs.filter(isIncluded).sorted { $0.job.text < $1.job.text }.compactMap { own -> Job? in
                guard let job = try? transaction.job(own.job), job.node == transaction.node?.number,
                    job.admissions == own.admission, case .running(.attempting) = job.state
                else { return nil }
                return job
            }
            return try transaction.transitionJobs(own.map { ($0, .attemptInterrupted) }).count
        }
    }

    private static let selectOwnJobs = """
        SELECT id, admissions, CASE WHEN promotion IS NULL THEN 0 ELSE 1 END AS is_promoting
        FROM jobs WHERE state = 'running' AND node = ?
        """
}
