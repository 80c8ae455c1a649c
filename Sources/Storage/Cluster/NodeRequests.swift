import Downloads
import Foundation

/// A request of another node for an attempt that runs here.
public struct AttemptRequest: Sendable {
    public var job: JobID
    /// `Job.admissions` of the attempt. The next attempt of the job is not meant.
    public var admission: Int
    /// nil: the specification of the job has changed.
    public var stop: AttemptStop?
}

extension Store {
    /// The requests of other nodes for attempts of this one.
    public func attemptRequests() async throws(StoreError) -> [AttemptRequest] {
        guard let node else { return [] }
        return try await read { db in
            try db.rows(Self.requestsOfNode, [node.number]).map { row in
                try AttemptRequest(
                    job: JobID(row["job"]), admission: row["admissions"],
                    stop: try (row["stop"] as String?).map(StoredStop.stop))
            }
        }
    }

    /// The commit that ends an attempt removes its request, so each request belongs to the last admission of its job.
    private static let requestsOfNode = """
        SELECT node_commands.job AS job, node_commands.stop AS stop, jobs.admissions AS admissions
        FROM node_commands JOIN jobs ON jobs.id = node_commands.job
        WHERE node_commands.node = ? ORDER BY node_commands.job
        """

    /// Reads jobs whose specifications other nodes have changed, and forgets their requests. A request to stop is forgotten with
    /// the end of its attempt.
    ///
    /// - Parameter onCommit: see `Writer.write`.
    public func consumeChangedSpecifications(of jobs: [JobID], onCommit: @escaping @Sendable ([Job]) -> Void)
        async throws
    {
        guard !jobs.isEmpty else { return }
        _ = try await writer.write(onCommit: onCommit) { transaction in
            try jobs.compactMap { id in
                try transaction.run("DELETE FROM node_commands WHERE job = ? AND stop IS NULL", [id.text])
                do { return try transaction.job(id) } catch StoreError.noSuchJob { return nil }
            }
        }
    }
}

/// Requests to the node on which a job runs, from the nodes that clients call.
extension Transaction {
    /// Asks the node on which the job runs to stop the attempt, unless that is this node.
    func requestStop(of job: Job, _ effects: [JobEffect]) throws {
        for case .stopAttempt(let stop) in effects { try request(try StoredStop.text(of: stop), for: job) }
    }

    /// Tells the node on which the job runs that the specification has changed.
    func noteChangedSpecification(of job: Job) throws {
        if job.state.name == .running { try request(nil, for: job) }
    }

    /// A client that waits for the stop sends the request again and again. Only a new or another one needs a commit.
    private func request(_ stop: String?, for job: Job) throws {
        guard let node, let other = job.node, other != node.number else { return }
        guard try changedRows(Self.storeRequest, [job.id.text, other, stop]) > 0 else { return }
        wake(.attempts)
    }

    private static let storeRequest = """
        INSERT INTO node_commands (job, node, stop) VALUES (?1, ?2, ?3)
        ON CONFLICT (job) DO UPDATE SET node = ?2, stop = coalesce(?3, node_commands.stop)
        WHERE node_commands.node <> ?2 OR node_commands.stop IS NOT coalesce(?3, node_commands.stop)
        """

    /// The attempt has ended.
    func forgetRequests(for job: Job) throws {
        guard node != nil else { return }
        try run("DELETE FROM node_commands WHERE job = ?", [job.id.text])
    }
}

extension Transaction {
    /// Every group commit compares this number with that of the settings it knows (`SettingsFollower`).
    func noteChangedSettings() throws {
        if node != nil { try run("UPDATE journal SET settings = settings + 1 WHERE id = 1") }
    }
}

/// How `node_commands` stores the stop of an attempt.
enum StoredStop {
    static func text(of stop: AttemptStop) throws -> String {
        switch stop {
        case .asked(.pause): "pause"
        case .asked(.cancel(keepsPart: false)): "cancel"
        case .asked(.cancel(keepsPart: true)): "cancel_keeping_part"
        case .overdue(let failure): try RowCoding.text(failure)
        }
    }

    static func stop(_ text: String) throws -> AttemptStop {
        switch text {
        case "pause": .asked(.pause)
        case "cancel": .asked(.cancel(keepsPart: false))
        case "cancel_keeping_part": .asked(.cancel(keepsPart: true))
        default: .overdue(try RowCoding.value(Failure.self, from: text))
        }
    }
}

extension Store {
    /// Waits until the job has changed, at most about a second. Another node changes it.
    ///
    /// - Throws: `CancellationError`.
    public func waitForChange(of job: Job) async throws {
        let end = time.uptime + .seconds(1)
        while time.uptime < end {
            // The job is in the cache until the other node has changed it, so this reads memory.
            guard let present = try? await self.job(job.id), present.revision == job.revision else { return }
            try await time.sleep(untilUptime: time.uptime + .milliseconds(10))
        }
    }
}
/// A file in the folder of this node that no job needs any more. Another node has dropped it.
public struct Removal: Sendable {
    public enum Subject: Sendable, Equatable {
        case part(PartID)
        case file(FinishedFile)
    }

    public let subject: Subject
    /// The columns of the row.
    let kind, name: String

    init(_ subject: Subject) throws {
        switch subject {
        case .part(let part):
            self.subject = subject
            kind = "part"
            name = part.text
        case .file(let file):
            let reduced = Self.identity(of: file)
            self.subject = .file(reduced)
            kind = "file"
            name = try RowCoding.text(reduced)
        }
    }

    /// What tells the file from others: its path, size and mark. The row is a key, whose length PostgreSQL limits to about
    /// 2,700 bytes, and the content type of an origin can be longer. A path has at most 1,280 bytes.
    private static func identity(of file: FinishedFile) -> FinishedFile {
        FinishedFile(
            in: file.location, path: file.path, size: file.size, sha256: nil, contentType: nil, mark: file.mark)
    }

    init(_ row: SQLRow) throws {
        kind = try row["kind"]
        name = try row["name"]
        subject = kind == "part" ? .part(PartID(name)) : .file(try RowCoding.value(FinishedFile.self, from: name))
    }
}

extension Store {
    /// The files that this node has to remove from its folder, at most 1,000.
    ///
    /// - Parameter last: the last file of the previous page; nil: begin with the first one.
    public func removals(after last: Removal? = nil) async throws(StoreError) -> [Removal] {
        guard let node else { return [] }
        return try await read { db in
            try db.rows(
                """
                SELECT kind, name FROM file_deletions
                WHERE node = ? AND (kind, name) > (?, ?)
                    AND NOT EXISTS (SELECT 1 FROM parts WHERE kind = 'part' AND parts.id = name)
                ORDER BY kind, name LIMIT 1000
                """, [node.number, last?.kind ?? "", last?.name ?? ""]
            ).map(Removal.init)
        }
    }

    /// Called when the files are removed.
    public func forget(_ removals: [Removal]) async throws {
        guard let node, !removals.isEmpty else { return }
        try await writer.write { transaction in
            for removal in removals {
                try transaction.run(
                    "DELETE FROM file_deletions WHERE node = ? AND kind = ? AND name = ?",
                    [node.number, removal.kind, removal.name])
            }
        }
    }
}

/// Files in the folders of other nodes that have to be removed. Only the node that has a folder removes its files.
extension Transaction {
    /// The job has lost this part. This node removes the file itself, if it has made the part.
    func dropFile(of part: PartID) throws { try requestRemoval(.part(part), from: part.owner?.number) }

    /// The job is deleted with its file.
    func dropFile(of job: Job) throws {
        if let file = job.state.finish?.file { try dropFile(file, of: job.node) }
    }

    /// - Parameter number: the node that has moved the file to its place; nil: the file is older than the nodes.
    func dropFile(_ file: FinishedFile, of number: Int64?) throws { try requestRemoval(.file(file), from: number) }

    /// - Parameter number: the node that has made the file; nil: the file is older than the nodes.
    private func requestRemoval(_ subject: Removal.Subject, from number: Int64?) throws {
        guard let node, let other = try number ?? firstNode(), other != node.number else { return }
        let removal = try Removal(subject)
        try run(Self.storeRemoval, [other, removal.kind, removal.name])
        wake(.removals)
    }

    /// A removal for a forgotten node would never be read or deleted, so it is not stored.
    private static let storeRemoval = """
        INSERT INTO file_deletions (node, kind, name)
        SELECT number, CAST(?2 AS text), CAST(?3 AS text) FROM nodes WHERE number = ?1
        ON CONFLICT DO NOTHING
        """

    /// Another job takes the part over, so its file stays.
    func keepFile(of part: PartID) throws {
        guard let node, part.owner?.number != node.number else { return }
        let removal = try Removal(.part(part))
        try run("DELETE FROM file_deletions WHERE kind = ? AND name = ?", [removal.kind, removal.name])
    }
}

extension Store {
    /// Claims additional connections of this node, so that the limits of hosts hold over all nodes.
    ///
    /// - Parameters:
    ///   - used: the connections that exist. Earlier claims beyond them are given back.
    ///   - wanted: connections to be opened.
    ///   - limits: see `admitJobs`.
    /// - Returns: the connections that may exist from now on.
    public func claimConnections(
        _ used: [AdmissionLimits.Taken], wanted: [AdmissionLimits.Taken],
        _ limits: @escaping @Sendable () -> AdmissionLimits
    ) async throws -> [AdmissionLimits.Taken] {
        try await writer.write { try $0.claimConnections(used, wanted: wanted, limits()) }
    }
}

/// The connections of running jobs besides the first one of each, on all nodes.
///
/// A node asks for a connection before it opens it. So admission, which counts these rows, and the nodes together never
/// exceed the limits of a host.
extension Transaction {
    /// The other nodes that have a lease.
    func otherNodes() throws -> Set<Int64> {
        guard let node else { return [] }
        let numbers = try rows(
            "SELECT number FROM nodes WHERE expires_at IS NOT NULL AND number <> ?", [node.number])
        return Set(try numbers.map { try $0["number"] as Int64 })
    }

    func slots(_ limits: AdmissionLimits) throws -> AdmissionSlots { try db.admissionSlots(limits, on: node) }

    /// Replaces the connections of this node, and adds those that it wants as far as the limits allow. Nothing is written if
    /// nothing changes.
    ///
    /// - Parameters:
    ///   - used: the connections that exist.
    ///   - wanted: connections to be opened, in the order of the requests.
    /// - Returns: the connections that may exist from now on.
    func claimConnections(
        _ used: [AdmissionLimits.Taken], wanted: [AdmissionLimits.Taken], _ limits: AdmissionLimits
    ) throws -> [AdmissionLimits.Taken] {
        guard let node else { return [] }
        try replaceConnections(of: node, by: used)
        guard !wanted.isEmpty else { return used }
        var slots = try slots(limits)
        var granted = used
        for wish in wanted {
            guard let configuration = try configurationIfExists(of: wish.session) else { continue }
            for _ in 0..<wish.count where slots.hasRoom(at: wish.host, for: wish.session, configuration) {
                slots.connect(wish.session, host: wish.host, count: 1)
                granted.append(.init(session: wish.session, host: wish.host, count: 1))
                try add(granted[granted.count - 1], of: node)
            }
        }
        return granted
    }

    private func configurationIfExists(of session: Name) throws -> SessionConfiguration? {
        do { return try configuration(of: session) } catch StoreError.noSuchSession { return nil }
    }

    private func replaceConnections(of node: Node, by used: [AdmissionLimits.Taken]) throws {
        let stored = try rows(
            "SELECT session, host, count FROM additional_connections WHERE node = ?", [node.number])
        let before = Set(
            try stored.map { try "\($0["session"] as String) \($0["host"] as String) \($0["count"] as Int)" })
        guard before != Set(used.map { "\($0.session.text) \($0.host) \($0.count)" }) else { return }
        try run("DELETE FROM additional_connections WHERE node = ?", [node.number])
        for taken in used { try add(taken, of: node) }
        // Connections were given back.
        wake(.jobs)
    }

    private func add(_ taken: AdmissionLimits.Taken, of node: Node) throws {
        try run(
            """
            INSERT INTO additional_connections (node, session, host, count) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (node, session, host) DO UPDATE SET count = additional_connections.count + ?4
            """, [node.number, taken.session.text, taken.host, taken.count])
    }
}

extension SQLConnection {
    /// - Parameter node: nil: in a database of its own, a service claims no connections.
    func admissionSlots(_ limits: AdmissionLimits, on node: Node?) throws -> AdmissionSlots {
        guard let node else { return try AdmissionSlots(running: rows(AdmissionSlots.running), limits: limits) }
        var limits = limits
        limits.taken = try additionalConnections(of: node, opened: limits.taken)
        return try AdmissionSlots(running: rows(AdmissionSlots.runningOnNodes, [node.number]), limits: limits)
    }

    /// - Parameter opened: by this node.
    private func additionalConnections(
        of node: Node, opened: [AdmissionLimits.Taken]
    ) throws -> [AdmissionLimits.Taken] {
        let claimed = try rows(Self.additionalConnections).map { row in
            let taken = try AdmissionLimits.Taken(
                session: Name(trusted: row["session"]), host: row["host"], count: row["count"])
            return (node: try row["node"] as Int64, taken: taken)
        }
        let own = claimed.filter { $0.node == node.number }.map { $0.taken } + opened
        let counts = Dictionary(own.map { ([$0.session.text, $0.host], $0) }) { $0.count > $1.count ? $0 : $1 }
        return claimed.filter { $0.node != node.number }.map { $0.taken } + counts.values
    }

    /// A node that has ended has no connections.
    private static let additionalConnections = """
        SELECT node, session, host, count FROM additional_connections
        WHERE node IN (SELECT number FROM nodes WHERE expires_at IS NOT NULL)
        """
}

/// The lease of a webhook: the node that posts to it while it has pending deliveries. So one node at a time posts to an
/// endpoint, in the order of the events, and the webhooks are distributed over the nodes.
///
/// The lease ends when the last pending delivery is recorded, or with the lease of the node. It stays where deliveries are
/// cancelled, because an attempt of them can be under way. In a database of its own, a service needs no leases.
extension Transaction {
    /// Gives this node the lease if no node has it. Each change that makes a delivery pending calls it.
    func leaseWebhook(_ webhook: Int64) throws {
        guard let node, working.leasedWebhooks[webhook] == nil else { return }
        try run(
            "INSERT INTO webhook_leases (webhook, node) VALUES (?, ?) ON CONFLICT (webhook) DO NOTHING",
            [webhook, node.number])
        working.leasedWebhooks.note(true, for: webhook)
    }

    /// Gives this node the leases that no node has. Nothing is written if others have got them all.
    ///
    /// - Returns: the webhooks that this node has a lease of.
    func leaseWebhooks(_ webhooks: some Collection<Int64>) throws -> Set<Int64> {
        guard let node else { return Set(webhooks) }
        for webhook in webhooks {
            // It may have been deleted.
            let leased = try changedRows(
                """
                INSERT INTO webhook_leases (webhook, node) SELECT key, ?2 FROM webhooks WHERE key = ?1
                ON CONFLICT (webhook) DO NOTHING
                """, [webhook, node.number])
            if leased > 0 { working.leasedWebhooks.note(true, for: webhook) }
        }
        let own = try rows("SELECT webhook FROM webhook_leases WHERE node = ?", [node.number])
        return Set(try own.map { try $0["webhook"] as Int64 })
    }

    /// Ends this node's lease if no delivery is pending, except if an answer has disabled the webhook.
    func endLeaseOfIdleWebhook(_ webhook: Int64) throws {
        guard let node else { return }
        try run(
            """
            DELETE FROM webhook_leases WHERE webhook = ?1 AND node = ?2
                AND NOT EXISTS (SELECT 1 FROM deliveries WHERE webhook = ?1 AND state = 'pending')
                AND EXISTS (SELECT 1 FROM webhooks WHERE key = ?1 AND state = 'enabled')
            """, [webhook, node.number])
        working.leasedWebhooks.forget(webhook)
    }

    /// Ends the leases of the nodes that have none themselves. Another node gets them when their deliveries are due.
    func endWebhookLeasesOfEndedNodes() throws {
        let ended = try rows(
            """
            DELETE FROM webhook_leases WHERE node NOT IN (SELECT number FROM nodes WHERE expires_at IS NOT NULL)
            RETURNING webhook
            """)
        for row in ended { try working.leasedWebhooks.forget(row["webhook"]) }
        if !ended.isEmpty { wake(.deliveries) }
    }
}
