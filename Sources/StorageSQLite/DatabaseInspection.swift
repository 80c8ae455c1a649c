import Downloads
import Foundation
import GRDB
import Sealing
import Storage

/// What a database says about itself, read without changing it, with or without a service that uses it.
public struct DatabaseInspection: Sendable {
    public var contents: DatabaseContents
    /// The schema version that this program writes.
    public var latestSchema: Int
    /// What SQLite finds wrong with the pages, constraints and references of the database.
    public var damage: [String]
    /// The kept counts that differ from a full count; empty for a database that the next start upgrades.
    public var drifts: [String]
    public var space: DatabaseSpace
    /// The promised parts, each with the end of its last promised range.
    public var parts: [PartID: Int64]
    /// The locations that unfinished jobs need: those of parts, and those for which jobs wait.
    public var locations: Set<Name>
    /// When the service last stored its time; nil if it never did.
    public var storedTime: Date?
    /// The webhooks, without what a lost or wrong key hides; empty for a database that the next start upgrades.
    public var webhooks: [Webhook]
    public var key: KeyFinding

    /// Whether the key of the service fits the database.
    public enum KeyFinding: Sendable, Equatable {
        case fits
        /// The database has no check value yet: the next start takes or makes a key.
        case notYetUsed
        /// There is no key file, but the database has a check value. The next start makes a key if nothing is lost.
        case missing(LostSecrets)
        /// The key is another one than that of the database.
        case wrong
        /// The key cannot be read. The text is a sentence.
        case unusable(String)
    }

    /// - Parameters:
    ///   - folder: the data folder.
    ///   - key: where the key of the service comes from.
    ///   - thoroughly: whether every index and constraint is checked as well, which takes about as long as a backup.
    /// - Throws: `databaseIncomplete`, `databaseFromNewerVersion`, `databaseFromOlderVersion`, `markUnreadable`,
    ///   `databaseUnreadable`.
    public static func read(
        inDataFolder folder: String, key: KeySource, thoroughly: Bool
    ) throws(StoreError) -> DatabaseInspection {
        try DataFiles(path: folder).read { try DatabaseInspection($0, KeyInspection(key, folder), thoroughly) }
    }

    /// The parts that are promised now: `parts` again, some time later.
    public static func parts(inDataFolder folder: String) throws(StoreError) -> Set<PartID> {
        do {
            return Set(try Connections.read(DataFiles(path: folder).database) { try Store.parts(in: $0) }.keys)
        } catch {
            throw StoreError(error)
        }
    }

    private init(_ db: SQLConnection, _ key: KeyInspection, _ thoroughly: Bool) throws {
        contents = try DatabaseContents(readFrom: db.sqlite)
        latestSchema = Schema.latest
        damage =
            thoroughly
            ? try IntegrityCheck.findings(in: db.sqlite) : try StartupCheck.quickCheck(db.sqlite).map { [$0] } ?? []
        space = try DatabaseSpace(readFrom: db)
        parts = try Store.parts(in: db)
        storedTime = try db.row("SELECT time FROM clock")?.optionalTime("time")
        let isLatest = contents.schema == latestSchema
        drifts = isLatest ? try CountComparison(readFrom: db).drifts.map(\.description) : []
        self.key = try key.finding(db)
        let waiting = isLatest ? try db.rows(Store.waitingJobs).map { Name(trusted: try $0["wait_location"]) } : []
        locations = Set(parts.keys.map(\.location) + waiting)
        webhooks = isLatest ? try StoredQueue.webhooks(db, Sealer(keys: key.ring)) : []
    }
}

/// The keys of a service, read without making one.
struct KeyInspection {
    private let keys: Result<[SealingKey]?, KeyError>

    init(_ source: KeySource, _ folder: String) {
        keys = Result { () throws(KeyError) in try source.keys(inDataFolder: folder) }
    }

    func finding(_ db: SQLConnection) throws -> DatabaseInspection.KeyFinding {
        let check = try KeyCheck(db)
        switch keys {
        case .failure(let error): return .unusable(error.description)
        case .success(nil): return check == nil ? .notYetUsed : .missing(try LostSecrets(db))
        case .success(let keys?):
            guard let check else { return .notYetUsed }
            return keys.contains(where: check.fits) ? .fits : .wrong
        }
    }

    /// The keys; empty if there are none, or if they cannot be read.
    var given: [SealingKey] { (try? keys.get()) ?? [] }

    /// Opens what the keys have sealed. Without a key it opens nothing.
    var ring: Keyring { Keyring(current: given.first ?? .random(), others: given) }
}

extension StoredQueue {
    /// - Parameters:
    ///   - key: where the key of the service comes from. Without it, values lack their secrets, and `lost` lists them.
    ///   - states: the jobs to read.
    ///   - body: is called for the sessions, then for the jobs in the order of their creation, then for the webhooks.
    /// - Throws: as `DatabaseInspection.read`; `databaseUnreadable` if the next start upgrades the database.
    public static func read(
        inDataFolder folder: String, key: KeySource, states: Set<JobState.Kind>, _ body: (Item) throws -> Void
    ) throws(StoreError) {
        let files = DataFiles(path: folder)
        try files.read { db in
            guard try Schema.number(of: db.sqlite) == Schema.latest else {
                throw StoreError.databaseUnreadable(
                    path: files.database, why: "it is of an earlier version. Start the service once")
            }
            try read(db, Sealer(keys: KeyInspection(key, folder).ring), states, body)
        }
    }
}

extension DataFiles {
    /// Reads one snapshot of the database, with or without a service that uses it.
    ///
    /// - Throws: `StoreError`: that of the body; `databaseIncomplete`, `databaseFromNewerVersion`, `markUnreadable`,
    ///   `databaseUnreadable`.
    func read<Value>(_ body: (SQLConnection) throws -> Value) throws(StoreError) -> Value {
        try StoreError.translating {
            // Before the database, which therefore has at least the commits of the mark.
            let mark = try MarkFile.read(mark)
            return try Connections.read(database) { db in
                try requireComplete(db, mark)
                return try body(db)
            }
        } other: {
            .databaseUnreadable(path: database, why: "\($0)")
        }
    }
}
