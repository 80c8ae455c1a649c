import Downloads
import Foundation

/// Finishes due batches.
extension Store {
    /// Appends `session.finished` for each due batch.
    public func finishDueBatches() async throws -> [Batch] {
        try await writer.write { try $0.finishDueBatches() }
    }

    /// The earliest due time of all batches; nil when no batch has a due time.
    public func nextBatchDue() async throws(StoreError) -> Date? {
        try await read { db in
            try db.value("SELECT min(due_at) FROM batches WHERE state = 'due'", as: Int64.self)
        }.map(Date.init(milliseconds:))
    }
}
