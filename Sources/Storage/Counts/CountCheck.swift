import Downloads

extension Store {
    /// Compares the kept counts with a full count, and corrects those that are wrong. It reads one snapshot, so no write
    /// waits for it.
    public func checkCounts() async throws -> [CountDrift] {
        let comparison = try await compareCounts()
        let drifts = comparison.drifts
        if !drifts.isEmpty { try await writer.write { try comparison.correct(in: $0) } }
        return drifts
    }

    func compareCounts() async throws(StoreError) -> CountComparison {
        try await read { db in try CountComparison(readFrom: db) }
    }
}

public struct CountDrift: Sendable, Equatable, CustomStringConvertible {
    /// nil: the counts of the whole service.
    public var session: Name?
    public var kept: String
    public var counted: String

    public var description: String {
        "\(session.map { "session \($0)" } ?? "the service"): kept \(kept), counted \(counted)"
    }
}

/// The kept counts of one snapshot beside a full count of the same snapshot.
package struct CountComparison: Sendable {
    private let sessions: [(name: Name, kept: SessionCounts?, counted: SessionCounts)]
    private let service: (kept: ServiceCounts, counted: ServiceCounts)

    /// Reads every job, delivery, part and batch in an index.
    package init(readFrom db: SQLConnection) throws {
        let kept = try SessionCounts.readAll(in: db)
        sessions = try SessionCounts.recountAll(in: db).filter { kept[$0.key] != $0.value }
            .map { (name: $0.key, kept: kept[$0.key], counted: $0.value) }
        service = (try ServiceCounts.read(in: db), try ServiceCounts.recount(in: db))
    }

    package var drifts: [CountDrift] {
        let ofSessions = sessions.map { session in
            CountDrift(
                session: session.name, kept: session.kept.map { "\($0)" } ?? "nothing", counted: "\(session.counted)")
        }
        guard service.kept != service.counted else { return ofSessions }
        return ofSessions + [CountDrift(session: nil, kept: "\(service.kept)", counted: "\(service.counted)")]
    }

    /// Adds the differences to the kept counts. The changes of later commits are in the kept counts as they would be in
    /// a full count, so the differences are still right.
    func correct(in transaction: Transaction) throws {
        for session in sessions {
            var kept = session.kept ?? SessionCounts()
            if session.kept == nil || kept.batch > session.counted.batch {
                try transaction.resetProgress(of: session.name)
                kept.batch = 0
                kept.progress = BatchProgress()
            }
            transaction.counts.add(session.name, CountChanges.OfSession(from: kept, to: session.counted))
        }
        transaction.counts.service += service.counted - service.kept
    }
}

extension CountChanges.OfSession {
    fileprivate init(from kept: SessionCounts, to counted: SessionCounts) {
        jobs = counted.jobs - kept.jobs
        batches = [counted.batch: kept.batch == counted.batch ? counted.progress - kept.progress : counted.progress]
    }
}

extension Transaction {
    /// Clears what the session keeps about its latest batch, and adds the row if it is missing.
    fileprivate func resetProgress(of session: Name) throws {
        try run(
            """
            INSERT INTO session_counts (session) SELECT id FROM sessions WHERE id = ?
            ON CONFLICT (session) DO UPDATE SET batch = 0, unsized = 0, sized = 0, received = 0, expected = 0
            """, [session.text])
    }
}
