import Downloads
import Foundation
import GRDB

/// Finishes due batches.
extension Store {
    /// Appends `session.finished` for each due batch.
    public func finishDueBatches() async throws -> [Batch] {
        try await writer.write { try $0.finishDueBatches() }
    }

    /// The earliest due time of all batches; nil when no batch has a due time.
    public func nextBatchDue() async throws(StoreError) -> Date? {
        try await read { db in
            try Int64.fetchOne(db.cachedStatement(sql: "SELECT min(due_at) FROM batches WHERE state = 'due'"))
        }.map(Date.init(milliseconds:))
    }
}
