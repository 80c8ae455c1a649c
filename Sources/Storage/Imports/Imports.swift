import Downloads
import Formats
import Foundation

/// An import of a list: the position that its jobs have reached, so that it continues there after an interruption.
public struct ImportStatus: Sendable, Equatable {
    public var id: ImportID
    /// The entries of the list whose jobs are stored, or that were left out.
    public var position: Int
    /// The jobs that are stored.
    public var created: Int
    /// The batch of the first jobs in each session.
    public var batches: [Batch]

    public struct Batch: Sendable, Equatable {
        public var session: Name
        public var number: Int
    }
}

/// Names an import and its list: `imp_` and a ULID.
public struct ImportID: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    public static func make(_ ulid: ULID) -> ImportID { ImportID(trusted: "\(prefix)\(ulid)") }

    init(trusted text: String) { self.text = text }

    /// nil for a text that is no such identifier.
    init?(_ text: some StringProtocol) {
        guard text.hasPrefix(Self.prefix), ULID(String(text.dropFirst(Self.prefix.count))) != nil else { return nil }
        self.text = String(text)
    }

    public var description: String { text }
    private static let prefix = "imp_"
}

/// How an import begins.
public enum ImportBeginning: Sendable {
    /// The same list was imported before, to its end.
    case answered(IdempotentResponse)
    /// From the position that an earlier import of the same list has reached.
    case begun(ImportStatus)
}

extension Schema {
    /// The imports that have not ended. Their lists are in the data folder of their node.
    ///
    /// - `is_running`: false after an interruption. A repetition of the request continues.
    /// - `node`: NULL in a database of one service.
    static let imports = Table(
        name: "imports",
        columns: [
            .text("id", "NOT NULL PRIMARY KEY"), .text("caller", "NOT NULL"), .text("key", "NOT NULL"),
            .bytes("fingerprint", "NOT NULL"), .count("position"), .count("created"), .flag("is_running", default: nil),
            .integer("node"), .moved("created_at", "NOT NULL", by: .always),
        ],
        constraints: ["UNIQUE (caller, key)"], since: 24)

    /// The batches that stay open until an import ends.
    static let importBatches = Table(
        name: "import_batches",
        columns: [
            .text("import", "NOT NULL REFERENCES imports (id) ON DELETE CASCADE"), .text("session", "NOT NULL"),
            .integer("batch", "NOT NULL"),
        ],
        key: ["import", "session"], since: 24, isOrderedByKey: true)
}

extension Store {
    /// A name for an import that is about to begin.
    public func makeImportID() -> ImportID { .make(writer.nextULID()) }

    /// Begins an import, or continues one of the same list that was interrupted.
    ///
    /// - Parameters:
    ///   - jobs: the jobs of the whole list, which the quotas of the creator must allow.
    /// - Throws: `idempotencyKeyReused`, `answerLost`, `quotaExceeded`; `importRunning` if another node imports the list now.
    public func beginImport(
        _ id: ImportID, once claim: IdempotencyClaim, of jobs: Int, by creator: JobCreator
    ) async throws -> ImportBeginning {
        try await writer.write { transaction in
            if let first = try transaction.rememberedAnswer(to: claim) { return .answered(first) }
            return .begun(try transaction.beginImport(id, once: claim, of: jobs, by: creator))
        }
    }

    /// The claim of an import that has not ended; nil if it has.
    ///
    /// - Parameter route: the route of the claims of all imports.
    public func claim(ofImport id: ImportID, route: String) async throws(StoreError) -> IdempotencyClaim? {
        try await read { db in
            try db.row("SELECT * FROM imports WHERE id = ?", [id.text]).map {
                try IdempotencyClaim(
                    caller: $0["caller"], route: route, key: $0["key"], fingerprint: $0["fingerprint"])
            }
        }
    }

    /// Creates the next jobs of an import. Its batches stay open. A repetition with the same positions creates nothing.
    ///
    /// - Parameters:
    ///   - begin: the entries of the list whose jobs are stored already.
    ///   - end: the entries of the list whose jobs are stored then.
    /// - Throws: those of `createJobs`, except `quotaExceeded`: the quotas were judged at the beginning. `importEnded`.
    public func createJobs(
        _ new: [NewJob], by creator: JobCreator, in id: ImportID, from begin: Int, upTo end: Int
    ) async throws {
        var creator = creator
        creator.quotas = .none
        try await writer.write { [creator] transaction in
            try transaction.createJobs(new, by: creator, in: id, from: begin, upTo: end)
        }
    }

    /// Ends an import, and stores its answer for repetitions and its entry in the audit log.
    public func endImport(
        _ id: ImportID, once claim: IdempotencyClaim, audit note: AuditNote?, change: String,
        answer: @escaping @Sendable (ImportStatus) -> IdempotentResponse
    ) async throws -> IdempotentResponse {
        try await writer.write { transaction in
            if let first = try transaction.rememberedAnswer(to: claim) { return first }
            let answer = answer(try transaction.status(ofImport: id))
            try transaction.releaseBatches(of: id)
            try transaction.run("DELETE FROM imports WHERE id = ?", [id.text])
            try transaction.remember(answer, to: claim, holdsSecrets: false)
            try transaction.audit(note, change: change)
            return answer
        }
    }

    /// Ends an import before its list does. The batches finish, and a repetition of the request continues at the position.
    public func interruptImport(_ id: ImportID, audit note: AuditNote, change: String) async throws {
        try await writer.write { transaction in
            try transaction.interruptImport(id)
            try transaction.audit(note, change: change)
        }
    }

    /// Interrupts the imports of this service whose lists are lost.
    ///
    /// - Parameter lists: the imports that have their lists.
    public func interruptImports(exceptOf lists: Set<ImportID>) async throws {
        try await writer.write { transaction in
            let node = transaction.node?.number
            let running = try transaction.rows(
                "SELECT id FROM imports WHERE is_running = 1 AND (node IS NULL OR node = ?)", [node ?? 0])
            for row in running {
                let id = ImportID(trusted: try row["id"])
                if !lists.contains(id) { try transaction.interruptImport(id) }
            }
        }
    }
}

extension Transaction {
    fileprivate func beginImport(
        _ id: ImportID, once claim: IdempotencyClaim, of jobs: Int, by creator: JobCreator
    ) throws -> ImportStatus {
        let former = try row("SELECT * FROM imports WHERE caller = ? AND key = ?", [claim.caller, claim.key])
        guard let former else {
            try requireQuota(of: creator, for: jobs)
            try run(
                """
                INSERT INTO imports (id, caller, key, fingerprint, position, created, is_running, node, created_at)
                VALUES (?, ?, ?, ?, 0, 0, 1, ?, ?)
                """, [id.text, claim.caller, claim.key, claim.fingerprint, node?.number, now.milliseconds])
            return try status(ofImport: id)
        }
        guard try former["fingerprint"] == claim.fingerprint else { throw StoreError.idempotencyKeyReused(claim.key) }
        let formerID = ImportID(trusted: try former["id"])
        if try former["is_running"], try former["node"] != node?.number { throw StoreError.importRunning(formerID) }
        let created: Int = try former["created"]
        try requireQuota(of: creator, for: max(0, jobs - created))
        // Its batches are open no more, unless this service has not continued it yet.
        try releaseBatches(of: formerID)
        try run(
            "UPDATE imports SET id = ?, is_running = 1, node = ? WHERE id = ?",
            [id.text, node?.number, formerID.text])
        return try status(ofImport: id)
    }

    fileprivate func status(ofImport id: ImportID) throws -> ImportStatus {
        guard let row = try row("SELECT * FROM imports WHERE id = ?", [id.text]) else {
            throw StoreError.importEnded(id)
        }
        let batches = try rows("SELECT * FROM import_batches WHERE import = ? ORDER BY batch", [id.text]).map {
            ImportStatus.Batch(session: try Name(trusted: $0["session"]), number: try $0["batch"])
        }
        return try ImportStatus(id: id, position: row["position"], created: row["created"], batches: batches)
    }

    fileprivate func createJobs(
        _ new: [NewJob], by creator: JobCreator, in id: ImportID, from begin: Int, upTo end: Int
    ) throws {
        let moved = try changedRows(
            "UPDATE imports SET position = ?, created = created + ? WHERE id = ? AND position = ? AND is_running = 1",
            [end, new.count, id.text, begin])
        guard moved == 1 else {
            if try status(ofImport: id).position == end { return }
            throw StoreError.importEnded(id)
        }
        let jobs = try createJobs(new, by: creator)
        // The next change of most of them is far away.
        for job in jobs { working.jobs.forget(job.id) }
        let batches = Dictionary(jobs.map { ($0.session, $0.batch) }) { first, _ in first }
        for (session, number) in batches { try hold(number, of: session, for: id) }
    }

    /// Keeps the batch open until the import ends.
    private func hold(_ number: Int, of session: Name, for id: ImportID) throws {
        let isNew = try changedRows(
            "INSERT INTO import_batches (import, session, batch) VALUES (?, ?, ?) ON CONFLICT (import, session) DO NOTHING",
            [id.text, session.text, number])
        guard isNew == 1, let batch = try batch(number, of: session)?.transition(on: .importBegan) else { return }
        try update(batch)
    }

    fileprivate func interruptImport(_ id: ImportID) throws {
        try releaseBatches(of: id)
        try run("UPDATE imports SET is_running = 0 WHERE id = ?", [id.text])
    }

    fileprivate func releaseBatches(of id: ImportID) throws {
        for row in try rows("SELECT * FROM import_batches WHERE import = ?", [id.text]) {
            let name = Name(trusted: try row["session"])
            guard let batch = try batch(row["batch"], of: name) else { continue }
            let due = now.addingTimeInterval(try session(name).finishDelay)
            guard let released = batch.transition(on: .importEnded(due: due)) else { continue }
            try update(released)
            if case .due = released.state { wake(.batches) }
        }
        try run("DELETE FROM import_batches WHERE import = ?", [id.text])
    }

    /// Only the node that has the list can continue an import: when it starts again, or when a client repeats the request at
    /// another node.
    func interruptImportsOfEndedNodes() throws {
        let left = try rows(
            """
            SELECT id FROM imports WHERE is_running = 1
                AND node NOT IN (SELECT number FROM nodes WHERE expires_at IS NOT NULL)
            """)
        for row in left { try interruptImport(ImportID(trusted: row["id"])) }
    }

    func forgetInterruptedImports(before time: Date) throws {
        try run("DELETE FROM imports WHERE is_running = 0 AND created_at <= ?", [time.milliseconds])
    }
}
