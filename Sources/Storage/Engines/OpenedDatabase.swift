import Downloads
import Formats
import Foundation

/// A database that is ready for a store.
struct OpenedDatabase {
    let engine: any StoreEngine
    let sealer: Sealer
    /// What the database records about itself.
    let history: History
}

extension OpenedDatabase {
    func tokens() throws(StoreError) -> TokenTable { try Store.tokens(in: engine) }

    func order() throws(StoreError) -> CommitOrder {
        do {
            let start = try engine.start
            return CommitOrder(after: start.position, lastEvent: start.lastEvent)
        } catch {
            throw StoreError(error)
        }
    }

    func clock() throws(StoreError) -> StoredClock {
        do { return try engine.read(StoredClock.init) } catch { throw StoreError(error) }
    }

    /// New identifiers are larger than every existing one, also if the clock was set back.
    func sequence() throws(StoreError) -> ULIDSequence {
        do {
            let last = try engine.read { db in try db.rows(HighestIdentifiers.identifiers).map { $0[0] as String? } }
            let used = last.compactMap { $0?.split(separator: "_").last.flatMap { ULID($0) } }
            return ULIDSequence(after: (used + [history.lastID].compactMap(\.self)).max())
        } catch {
            throw StoreError(error)
        }
    }
}
