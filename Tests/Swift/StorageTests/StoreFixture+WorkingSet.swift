import Downloads
import Testing

@testable import Storage

extension StoreFixture {
    /// Compares the rows that the writer keeps in memory with the rows of the database.
    func expectWorkingSetEqualsRows(
        _ jobs: [JobID], _ step: String, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        try await store.writer.write { transaction in
            let (working, db, sealer) = (transaction.working, transaction.db, transaction.sealer)
            for id in jobs {
                guard let known = working.jobs[id] else { continue }
                #expect(try JobRow.job(id, in: db, sealer) == known, "\(step)", sourceLocation: location)
            }
            let sessions = try transaction.rows("SELECT * FROM sessions").map { try SessionRow.session($0, sealer) }
            for session in sessions {
                if let known = working.sessions[session.id] {
                    #expect(known == session, "\(step)", sourceLocation: location)
                }
                let batch = try transaction.row(
                    BatchRow.select + "WHERE session = ? AND state IN ('open', 'due')", [session.id.text])
                if let known = working.blockedJobs[session.id] {
                    let blocked = try transaction.rows(
                        "SELECT 1 FROM jobs WHERE session = ? AND reason IN ('credentials', 'url')", [session.id.text])
                    #expect(blocked.count == known, "\(step)", sourceLocation: location)
                }
                if let known = working.currentBatches[session.id] {
                    #expect(try batch.map(BatchRow.batch) == known, "\(step)", sourceLocation: location)
                }
            }
        }
    }
}
