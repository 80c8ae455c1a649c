import Downloads
import Formats
import Foundation

/// The committed status of a session.
public struct SessionStatus: Sendable, Equatable {
    public var session: Session
    public var counts: [JobState.Kind: Int]
    public var bytesReceived: Int64
    /// nil when the size of an outstanding job is unknown, or when no job is outstanding.
    public var bytesExpected: Int64?
    /// The number of the latest batch; 0 before the first.
    public var batch: Int
    /// Whether a list is being imported, whose next jobs follow.
    public var isImporting: Bool
    public var finishDueAt: Date?
    public var lastEvent: EventID
    public var acknowledgedThrough: EventID
    /// When the oldest finish ended whose acknowledgement is awaited; nil if there is none.
    public var unacknowledgedSince: Date?

    public enum State: String, Sendable, CaseIterable {
        /// No job is outstanding, and no list is being imported.
        case idle
        /// A job is outstanding, or a list is being imported.
        case active
        /// The session was deleted, and a job, a finish or a delivery is not settled yet.
        case finishing
    }

    public var state: State {
        if session.isFinishing { return .finishing }
        return isImporting || counts.contains { $0.key.isOutstanding && $0.value > 0 } ? .active : .idle
    }
}

public enum SessionExpectation: Sendable, Equatable {
    case nothing
    /// The session exists.
    case existence
    case revision(Int)
}

extension Store {
    /// Creates a session, or returns the existing one.
    ///
    /// - Throws: `placeholderUnknown`, `sessionChanged`.
    public func declareSession(
        _ id: Name, configuration: SessionConfiguration?, expecting expectation: SessionExpectation = .nothing,
        audit note: AuditNote? = nil, onCommit: @escaping @Sendable () -> Void = {}
    ) async throws -> (status: SessionStatus, isNew: Bool) {
        let isNew = try await writer.write(onCommit: { _ in onCommit() }) {
            try $0.declareSession(id, configuration, expecting: expectation, audit: note)
        }
        return (try await session(id), isNew)
    }

    /// Replaces the configuration of a session, if it is still the one that the client's change was applied to.
    ///
    /// - Parameter onCommit: is not called when nothing is changed; see `Writer.write`.
    /// - Returns: nil when another request has changed the session since; nothing is changed then.
    /// - Throws: `noSuchSession`, `placeholderUnknown`.
    public func changeSession(
        _ before: Session, to configuration: SessionConfiguration, audit note: AuditNote? = nil,
        onCommit: @escaping @Sendable () -> Void = {}
    ) async throws -> SessionStatus? {
        let isDone = try await writer.write(onCommit: { isDone in if isDone { onCommit() } }) { transaction in
            let session = try transaction.session(before.id)
            guard session.revision == before.revision, session.configuration == before.configuration else {
                return false
            }
            try transaction.change(session, to: configuration, audit: note)
            return true
        }
        return isDone ? try await session(before.id) : nil
    }

    /// Reads the configurations of sessions in commit order, so that no earlier admission takes effect after it with a
    /// former configuration. Sessions that do not exist any more are left out.
    ///
    /// - Parameter sessions: called on the writer's thread, after the hooks of all earlier commits.
    public func consumeConfigurations(
        of sessions: @escaping @Sendable () -> [Name],
        onCommit: @escaping @Sendable ([Name: SessionConfiguration]) -> Void
    ) async throws {
        _ = try await writer.write(onCommit: onCommit) { transaction in
            try sessions().reduce(into: [:]) { found, name in
                do { found[name] = try transaction.configuration(of: name) } catch StoreError.noSuchSession { return }
            }
        }
    }

    /// - Throws: `noSuchSession`.
    public func session(_ id: Name) async throws(StoreError) -> SessionStatus {
        let status = try await read { [sealer] db in
            try db.row("SELECT * FROM sessions WHERE id = ?", [id.text])
                .map { try SessionRow.status($0, in: db, sealer) }
        }
        guard let status else { throw .noSuchSession(id) }
        return status
    }

    public func sessions() async throws(StoreError) -> [SessionStatus] { try await sessions(after: "", limit: .max) }

    /// The sessions after a name, ordered by name. No name is before the empty one.
    public func sessions(after name: String, limit: Int) async throws(StoreError) -> [SessionStatus] {
        try await read { [sealer] db in
            try db.rows("SELECT * FROM sessions WHERE id > ? ORDER BY id LIMIT ?", [name, limit])
                .map { try SessionRow.status($0, in: db, sealer) }
        }
    }
}

extension Transaction {
    /// - Throws: `noSuchSession`.
    func session(_ id: Name) throws -> Session {
        if let known = working.sessions[id] { return known }
        guard let row = try row("SELECT * FROM sessions WHERE id = ?", [id.text]) else {
            throw StoreError.noSuchSession(id)
        }
        let session = try SessionRow.session(row, sealer)
        working.sessions.note(session, for: id)
        return session
    }

    func configuration(of session: Name) throws -> SessionConfiguration { try self.session(session).configuration }

    /// - Parameter note: the entry of the audit log, if anything changes: clients declare a session as often as they like.
    /// - Returns: whether the session is new.
    /// - Throws: `placeholderUnknown`, `sessionChanged`.
    func declareSession(
        _ id: Name, _ configuration: SessionConfiguration?, expecting expectation: SessionExpectation = .nothing,
        audit note: AuditNote? = nil
    ) throws -> Bool {
        if try row("SELECT 1 FROM sessions WHERE id = ?", [id.text]) == nil {
            guard expectation == .nothing else { throw StoreError.sessionChanged(id, now: nil) }
            try insertSession(
                id, keepingSecrets(of: SessionConfiguration(), in: configuration ?? SessionConfiguration()))
            try audit(note)
            return true
        }
        let session = try session(id)
        if case .revision(let revision) = expectation, revision != session.revision {
            throw StoreError.sessionChanged(id, now: session.revision)
        }
        if let configuration { try change(session, to: configuration, audit: note) }
        return false
    }

    /// Replaces the configuration of a session. Jobs that wait for what has changed are queued. The audit log gets the note if
    /// anything changes.
    ///
    /// - Throws: `placeholderUnknown`.
    func change(_ session: Session, to configuration: SessionConfiguration, audit note: AuditNote? = nil) throws {
        let (id, before) = (session.id, session.configuration)
        let after = try keepingSecrets(of: before, in: configuration)
        if after != before { try audit(note) }
        try run(
            "UPDATE sessions SET configuration = ?, revision = revision + ? WHERE id = ?",
            [try sealer.text(after, of: id), after != before, id.text])
        working.sessions.forget(id)
        try noteExpectation(of: id, before: session)
        // A higher limit may admit jobs.
        wake(.jobs)
        if after.rateLimit != before.rateLimit { wake(.configurations) }
        if after.lost != before.lost {
            try supply([.credentials, .proxy], toJobsOf: id)
        } else if after.proxy != before.proxy {
            try supply([.proxy], toJobsOf: id)
        }
    }

    /// - Throws: `placeholderUnknown`.
    private func keepingSecrets(
        of stored: SessionConfiguration, in declared: SessionConfiguration
    ) throws -> SessionConfiguration {
        do {
            return try declared.keepingSecrets(of: stored)
        } catch {
            throw StoreError.placeholderUnknown(header: error.header)
        }
    }

    /// Queues the jobs that wait for credentials of the session's proxy, or for other secrets of the session. The index of
    /// blocked jobs is nearly always empty.
    private func supply(_ input: Set<RequiredInput>, toJobsOf session: Name) throws {
        let blocked = try jobs(
            JobRow.select + "WHERE jobs.session = ? AND jobs.reason IN ('credentials', 'url') ORDER BY jobs.id",
            [session.text])
        try transitionJobs(blocked.map { ($0, .inputSupplied(input)) })
    }

    /// A new session begins after the events that an earlier session of the same name left in the journal. Its revision begins
    /// with the time, so that it is none of the earlier session.
    private func insertSession(_ id: Name, _ configuration: SessionConfiguration) throws {
        try run(
            """
            INSERT INTO sessions (id, configuration, acknowledged_through, created_at, revision, expects_acknowledgement)
            SELECT ?1, ?2, coalesce(max(id), (SELECT last_event FROM removed_events WHERE session = ?1), 0),
                CAST(?3 AS BIGINT), CAST(?3 AS BIGINT), CAST(?4 AS BIGINT)
            FROM events WHERE session = ?1
            """,
            [
                id.text, try sealer.text(configuration, of: id), now.milliseconds,
                configuration.acknowledgement == .expected,
            ])
        try run("INSERT INTO session_counts (session) VALUES (?)", [id.text])
    }
}

enum SessionRow {
    static func session(_ row: SQLRow, _ sealer: Sealer) throws -> Session {
        let place = try SecretColumn.sessionConfiguration.place(row["id"] as String)
        let configuration = try sealer.open(row["configuration"], at: place).text
        return try Session(
            id: Name(trusted: row["id"]),
            configuration: try RowCoding.value(SessionConfiguration.self, from: configuration),
            revision: row["revision"], hasConsumer: row["has_consumer"], isFinishing: row["is_finishing"],
            createdAt: row.time("created_at"))
    }

    static func status(_ row: SQLRow, in db: SQLConnection, _ sealer: Sealer) throws -> SessionStatus {
        let session = try session(row, sealer)
        let name = session.id.text
        let batch = try db.row("SELECT * FROM batches WHERE session = ? ORDER BY number DESC LIMIT 1", [name])
        let counts = try SessionCounts.read(name, in: db)
        return try SessionStatus(
            session: session, counts: counts.jobs.byState, bytesReceived: Int64(counts.progress[.received]),
            bytesExpected: counts.progress.expected, batch: batch?["number"] ?? 0,
            isImporting: (batch?["imports"] ?? 0) > 0, finishDueAt: batch?.optionalTime("due_at"),
            lastEvent: try lastEvent(of: name, acknowledged: row["acknowledged_through"], in: db),
            acknowledgedThrough: row["acknowledged_through"],
            unacknowledgedSince: try db.time(Self.oldestAwaited, [name]))
    }

    static let oldestAwaited =
        "SELECT min(finished_at) FROM batches WHERE session = ? AND state = 'finished' AND is_awaited = 1"

    /// The last event of the session, also if it was pruned. A session that was declared again starts after the events
    /// of its predecessor.
    private static func lastEvent(of session: String, acknowledged: EventID, in db: SQLConnection) throws -> EventID {
        try db.value(
            """
            SELECT coalesce((SELECT max(id) FROM events WHERE session = ?1),
                (SELECT last_event FROM removed_events WHERE session = ?1), ?2)
            """, [session, acknowledged], as: EventID.self) ?? acknowledged
    }
}

/// Keeps the finished files and the parts of a session within its `max_total_size`.
extension Transaction {
    /// The largest size that the file of the job may have beside those of the other jobs of its session; nil when the session
    /// has no limit.
    func roomInSession(for job: Job, _ configuration: SessionConfiguration) throws -> SizeLimit? {
        guard let total = configuration.maxTotalSize else { return nil }
        let ofOthers = try heldBytes(of: job.session) - JobShare(job).heldBytes
        return SizeLimit(max(0, total - ofOthers), of: .session(total: total))
    }

    /// The limit that the verified file of a job exceeds, together with the files that other jobs have finished meanwhile.
    func excess(_ promotion: FinalizePlan, of job: Job) throws -> SizeLimit? {
        let room = try roomInSession(for: job, try configuration(of: job.session))
        return room.flatMap { promotion.file.size > $0.bytes ? $0 : nil }
    }

    /// Changes the sum of the session, if the writer knows it. `count(_:_:)` calls this.
    func countHeldBytes(_ before: JobShare?, _ after: JobShare?) {
        guard let session = (after ?? before)?.session, let known = working.heldBytes[session] else { return }
        let change = (after?.heldBytes ?? 0) - (before?.heldBytes ?? 0)
        if change != 0 { working.heldBytes.note(known + change, for: session) }
    }

    /// Reads all jobs of the session in an index when the writer does not know the sum yet.
    func heldBytes(of session: Name) throws -> Int64 {
        if let known = working.heldBytes[session] { return known }
        let held = try db.value(Self.sumOfHeldBytes, ["session": session.text], as: Int64.self) ?? 0
        working.heldBytes.note(held, for: session)
        return held
    }

    /// The second condition on the state is that of the index `jobs_not_running_by_session`.
    static let sumOfHeldBytes = """
        SELECT (SELECT coalesce(sum(file_size), 0) FROM jobs
                WHERE session = :session AND state = 'succeeded' AND state <> 'running')
            + (SELECT coalesce(sum(max(parts.bytes_durable, coalesce(parts.size, 0))), 0)
                FROM parts JOIN jobs ON jobs.id = parts.job
                WHERE jobs.session = :session AND jobs.state IN ('queued', 'running', 'waiting', 'paused'))
        """
}
