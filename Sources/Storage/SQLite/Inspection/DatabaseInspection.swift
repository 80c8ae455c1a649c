import Downloads
import Foundation
import GRDB
import Sealing

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
    /// - Throws: `databaseIncomplete`, `databaseFromNewerVersion`, `markUnreadable`, `databaseUnreadable`.
    public static func read(
        inDataFolder folder: String, key: KeySource, thoroughly: Bool
    ) throws(StoreError) -> DatabaseInspection {
        try DataFiles(path: folder).read { try DatabaseInspection($0, KeyInspection(key, folder), thoroughly) }
    }

    /// The parts that are promised now: `parts` again, some time later.
    public static func parts(inDataFolder folder: String) throws(StoreError) -> Set<PartID> {
        do {
            return Set(try Connections.read(DataFiles(path: folder).database) { try Self.parts(in: $0) }.keys)
        } catch {
            throw StoreError(error)
        }
    }

    private static func parts(in db: SQLConnection) throws -> [PartID: Int64] {
        let hasRanges = try db.sqlite.columns(in: "parts").contains { $0.name == "ranges" }
        return try Store.parts(in: db, hasRanges: hasRanges)
    }

    private init(_ db: SQLConnection, _ key: KeyInspection, _ thoroughly: Bool) throws {
        contents = try DatabaseContents(readFrom: db.sqlite)
        latestSchema = Schema.latest
        damage =
            thoroughly
            ? try IntegrityCheck.findings(in: db.sqlite) : try StartupCheck.quickCheck(db.sqlite).map { [$0] } ?? []
        space = try DatabaseSpace(readFrom: db)
        parts = try Self.parts(in: db)
        storedTime =
            try db.hasTable("clock") ? db.row("SELECT time FROM clock")?.optionalTime("time") : nil
        let isLatest = contents.schema == latestSchema
        drifts = isLatest ? try CountComparison(readFrom: db).drifts.map { "\($0)" } : []
        self.key = try key.finding(db)
        let sealer = Sealer(keys: key.ring)
        webhooks =
            isLatest
            ? try db.map("SELECT * FROM webhooks ORDER BY key") { try WebhookRow.webhook($0, sealer) } : []
    }
}
