import Downloads
import Formats
import Foundation
import PostgresClient

/// The settings of the service that clients have changed. They outlive a restart.
extension Store {
    /// The stored values, by the names of the settings.
    public func settings() async throws(StoreError) -> [String: JSON] {
        settingsFollower.forget()
        return try await read { try Self.settings(in: $0) }
    }

    /// Stores the settings in one commit, each with an entry of the audit log. A setting that already has its value is left
    /// out.
    ///
    /// - Parameter onCommit: see `Writer.write`.
    public func changeSettings(
        _ settings: [NewSetting], audit note: AuditNote?,
        onCommit: @escaping @Sendable ([SettingChange]) -> Void
    ) async throws -> [SettingChange] {
        try await writer.write(onCommit: { [settingsFollower] in
            settingsFollower.forget()
            onCommit($0)
        }) { transaction in
            try settings.compactMap { try transaction.changeSetting($0, audit: note) }
        }
    }

    /// The stored values in a data folder, whether or not a service uses it. Empty if there is no database.
    public static func settings(inDataFolder path: String) throws(StoreError) -> [String: JSON] {
        let file = path + "/fetchd.sqlite"
        guard FileManager.default.fileExists(atPath: file) else { return [:] }
        do {
            return try Connections.read(file) { db in
                try db.hasTable("service_settings") ? Self.settings(in: db) : [:]
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// The stored values in a PostgreSQL database, whether or not a service uses it. Empty if it has no tables yet.
    public static func settings(in server: ServerAddress) throws(StoreError) -> [String: JSON] {
        do {
            let readers = PostgresReaders(try PostgresTarget(url: server.url), try ServerReach())
            defer { readers.close() }
            return try readers.read { db in
                try db.hasTable("service_settings") ? Self.settings(in: db) : [:]
            }
        } catch {
            throw StoreError(error)
        }
    }

    /// A value that is no JSON is `null` here, which no setting accepts.
    static func settings(in db: SQLConnection) throws -> [String: JSON] {
        try db.rows("SELECT name, value FROM service_settings").reduce(into: [:]) { settings, row in
            settings[row["name"]] = (try? JSON(parsing: row["value"] as String)) ?? .null
        }
    }
}
