import Downloads
import Foundation

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
        let noteLead = { @Sendable [engine] (takeover: Takeover) in if takeover.leads { engine.noteLead() } }
        return try await writer.write(onCommit: noteLead) { [engine, sharesDownloads = options.node.sharesDownloads] in
            // The write may have waited long.
            try $0.takeOverNodes(at: engine.takeoverTime, sharesDownloads: sharesDownloads, limit: 500)
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
    ///   - time: see `NodeLease.takeoverTime`. nil: only the work of nodes without a lease is taken over.
    ///   - sharesDownloads: whether this node has the part files of the others.
    ///   - limit: the number of jobs.
    func takeOverNodes(at time: Int64?, sharesDownloads: Bool, limit: Int) throws -> Takeover {
        guard let node else { return Takeover() }
        var takeover = Takeover()
        if let time { takeover.nodes = try endLeases(at: time, by: node) }
        takeover.leads = try changedRows(Self.lead, [node.number]) > 0
        try endWebhookLeasesOfEndedNodes()
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

    /// A process that has one of these leases cannot commit from now on.
    ///
    /// If the lease of this node has ended as well, the server's clock has jumped, and the others may live as this one does.
    private func endLeases(at time: Int64, by node: Node) throws -> [Int64] {
        let ended = try rows(Self.endedNodes, [node.number, time]).map { try $0["number"] as Int64 }
        for number in ended {
            try run("UPDATE nodes SET epoch = epoch + 1, expires_at = NULL WHERE number = ?", [number])
            try run("DELETE FROM additional_connections WHERE node = ?", [number])
            try run("DELETE FROM attempt_requests WHERE node = ?", [number])
        }
        // Queued jobs whose parts these nodes have begin again elsewhere.
        if !ended.isEmpty { wake(.jobs) }
        return ended
    }

    private static let endedNodes = """
        SELECT number FROM nodes WHERE number <> ?1 AND \(PostgresNode.hasEnded("expires_at", own: "?2"))
            AND EXISTS (
                SELECT 1 FROM nodes AS this
                WHERE this.number = ?1 AND NOT \(PostgresNode.hasEnded("this.expires_at", own: "?2")))
        ORDER BY number FOR UPDATE
        """

    /// Queues the job again. If its file was being promoted, this node continues that, if it has the file.
    private func takeOver(
        _ job: Job, by node: Node, _ sharesDownloads: Bool, _ takeover: inout Takeover
    ) throws {
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
            _ = try applySignal(.attemptDeferred(Wait(.storage(until: now), cause: why)), to: job.id, report)
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
