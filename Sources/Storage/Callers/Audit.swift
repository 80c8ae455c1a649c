import Base
import Downloads
import Foundation

/// What an action on many jobs has done so far, and its entry in the audit log.
public struct ActionRecord: Sendable {
    public struct Counts: Sendable, Equatable {
        public var matched = 0
        public var changed = 0
        /// Jobs that could not be changed, and identifiers without a job.
        public var refused = 0

        public init() {}
    }

    public var counts = Counts()
    /// Some of the refusals: an answer with all of them has no bound.
    public private(set) var refusals: [(job: JobID, error: any Error)] = []
    let note: AuditNote?
    private let request: String
    /// The number of the entry; nil before the first step.
    var entry: Int64?

    /// - Parameters:
    ///   - note: nil: the action is not the request of a client.
    ///   - request: what the action does to which jobs, for the audit log.
    public init(_ note: AuditNote?, of request: String) {
        self.note = note
        self.request = request
    }

    public mutating func refuse(_ job: JobID, _ error: any Error) {
        counts.refused += 1
        if refusals.count < Self.mostRefusals { refusals.append((job, error)) }
    }

    private static let mostRefusals = 100

    var change: String { "\(request): \(counts.matched) matched, \(counts.changed) changed, \(counts.refused) refused" }
}

extension Store {
    /// Stores the end of an action in steps, and the answer for repetitions of the request.
    /// - Returns: the answer to give. It is that of a repetition, if another service has carried out one that has ended earlier.
    public func conclude(
        _ record: ActionRecord, once claim: IdempotencyClaim?, answer: IdempotentResponse
    ) async throws -> IdempotentResponse {
        try await writer.write { transaction in
            var record = record
            try transaction.store(&record)
            guard let claim else { return answer }
            if let first = try transaction.rememberedAnswer(to: claim) { return first }
            try transaction.remember(answer, to: claim, holdsSecrets: false)
            return answer
        }
    }
}

/// The audit log: administrative changes, and refused requests.
extension Store {
    /// Seconds for which entries are kept: 90 days.
    public static let auditRetention: TimeInterval = 7_776_000
    /// The number of entries that are kept at most.
    public static let mostAuditEntries = 100_000

    /// The entries after a number, the oldest first.
    public func audit(after: Int64, limit: Int) async throws(StoreError) -> [AuditEntry] {
        try await read { db in
            try db.rows("SELECT * FROM audit WHERE id > ? ORDER BY id LIMIT ?", [after, limit]).map(Self.entry)
        }
    }

    private static func entry(_ row: SQLRow) throws -> AuditEntry {
        let note = try AuditNote(
            caller: row["caller"], name: (row["name"] as String?).map { Name(trusted: $0) }, address: row["address"],
            action: row["action"], target: row["target"])
        return try AuditEntry(
            id: row["id"], time: row.time("time"), note: note,
            outcome: try row.named("outcome", as: AuditEntry.Outcome.self), reason: row["reason"],
            change: row["change"], count: row["count"])
    }

    /// Stores changes of settings that no client has made, in one commit. The note says what has made them.
    public func audit(_ changes: [SettingChange], by note: AuditNote) async throws {
        try await writer.write { transaction in
            for change in changes { try transaction.audit(note, target: change.name, change: change.description) }
        }
    }

    /// Stores the refusals since the last call, in one commit. When it returns, those of a call that has begun before are
    /// stored, too.
    public func storeRefusals() async throws {
        try await refusals.storing.pass(for: "") {
            let taken = refusals.takeAll()
            guard !taken.isEmpty else { return }
            do {
                try await writer.write { try $0.audit(taken) }
            } catch {
                refusals.giveBack(taken)
                throw error
            }
        }
    }

    /// - Returns: whether there may be more than `limit` entries to remove.
    public func pruneAudit(keeping most: Int = mostAuditEntries, limit: Int = 500) async throws -> Bool {
        try await writer.write { transaction in
            let oldest = transaction.now.addingTimeInterval(-Self.auditRetention)
            let isSure = transaction.confidence.allowsRemoval(ofDataKeptFor: Self.auditRetention, at: transaction.now)
            let expired = isSure ? oldest.milliseconds : .min
            return try transaction.changedRows(Self.pruneAudit, [expired, most, limit]) == limit
        }
    }

    static let pruneAudit = """
        DELETE FROM audit WHERE id IN (
            SELECT id FROM audit WHERE time <= ? OR id <= (SELECT id FROM audit ORDER BY id DESC LIMIT 1 OFFSET ?)
            ORDER BY id LIMIT ?)
        """
}

extension Transaction {
    /// Notes a change in the transaction that makes it: neither is stored without the other.
    ///
    /// - Parameters:
    ///   - note: nil: the change is not the request of a client.
    ///   - target: replaces that of the note.
    ///   - change: what was replaced by what.
    func audit(_ note: AuditNote?, target: String? = nil, change: String? = nil) throws {
        guard let note else { return }
        try run(Self.insertAudit, arguments(note, target: target, .done, change: change))
    }

    /// Writes the entry of an action in steps, or brings it up to date.
    func store(_ record: inout ActionRecord) throws {
        guard let note = record.note else { return }
        let change = record.change
        if let entry = record.entry { return try run("UPDATE audit SET change = ? WHERE id = ?", [change, entry]) }
        record.entry = try row(Self.insertAudit + " RETURNING id", arguments(note, .done, change: change))?["id"]
    }

    fileprivate func audit(_ refusals: [(key: RefusalLog.Key, refusal: RefusalLog.Refusal)]) throws {
        for (key, refusal) in refusals {
            try run(
                Self.insertAudit,
                arguments(key.note, .refused, reason: key.reason, count: refusal.count, at: refusal.first))
        }
    }

    private static let insertAudit = """
        INSERT INTO audit (time, caller, name, address, action, target, outcome, reason, change, count)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    private func arguments(
        _ note: AuditNote, target: String? = nil, _ outcome: AuditEntry.Outcome, reason: String? = nil,
        change: String? = nil, count: Int = 1, at time: Date? = nil
    ) -> SQLArguments {
        [
            (time ?? now).milliseconds, note.caller, note.name?.text, note.address, note.action, target ?? note.target,
            outcome.rawValue, reason, change, count,
        ]
    }
}

/// Refused requests that are not stored yet. Equal refusals are counted, so that a flood of them becomes neither a flood
/// of commits nor of rows.
public final class RefusalLog: Sendable {
    struct Key: Hashable, Sendable {
        var note: AuditNote
        var reason: String
    }

    struct Refusal: Sendable {
        var first: Date
        var count: Int
    }

    private let refusals = Locked<[Key: Refusal]>([:])
    /// One call after another stores refusals.
    fileprivate let storing = AsyncGate(width: 1)

    public func add(_ note: AuditNote, _ reason: String, at time: Date) {
        refusals.withLock { refusals in
            var key = Key(note: note, reason: reason)
            if refusals[key] == nil, refusals.count >= Self.mostKinds {
                key.note = AuditNote(caller: nil, name: nil, address: "others", action: "others")
            }
            refusals[key, default: Refusal(first: time, count: 0)].count += 1
        }
    }

    /// Removes and returns all refusals, the oldest first.
    func takeAll() -> [(key: Key, refusal: Refusal)] {
        let taken = refusals.withLock { refusals in
            defer { refusals = [:] }
            return refusals
        }
        return taken.map { (key: $0, refusal: $1) }.sorted { $0.refusal.first < $1.refusal.first }
    }

    func giveBack(_ taken: [(key: Key, refusal: Refusal)]) {
        refusals.withLock { refusals in
            refusals.merge(taken.map { ($0.key, $0.refusal) }) { later, earlier in
                Refusal(first: earlier.first, count: earlier.count + later.count)
            }
        }
    }

    /// The number of different refusals that are counted separately between two commits.
    static let mostKinds = 1000
}
