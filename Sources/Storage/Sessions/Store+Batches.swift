import Downloads
import Foundation
import GRDB

/// Finishing batches, for the worker that watches their due times.
extension Store {
    /// Appends `session.finished` for each batch whose time has come.
    public func finishDueBatches() async throws -> [Batch] {
        try await writer.write { try $0.finishDueBatches() }
    }

    /// When the next batch will be due; nil while none is waiting.
    public func nextBatchDue() throws(StoreError) -> Date? {
        try read { db in
            try Int64.fetchOne(db.cachedStatement(sql: "SELECT min(due_at) FROM batches WHERE state = 'due'"))
        }.map(Date.init(milliseconds:))
    }
}
