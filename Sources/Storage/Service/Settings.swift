import Base
import Downloads
import Formats
import Foundation

public struct NewSetting: Sendable {
    public var name: String
    /// nil removes the stored value: the value at the start applies again.
    public var value: JSON?
    /// The value at the start, for the audit log.
    public var start: JSON

    public init(name: String, value: JSON?, start: JSON) {
        self.name = name
        self.value = value
        self.start = start
    }
}

public struct SettingChange: Sendable, Equatable {
    public var name: String
    public var before: JSON
    public var after: JSON
    /// The stored value now; nil: the value at the start applies.
    public var stored: JSON?

    public init(name: String, before: JSON, after: JSON, stored: JSON?) {
        self.name = name
        self.before = before
        self.after = after
        self.stored = stored
    }
}

extension SettingChange: CustomStringConvertible {
    /// `16 -> 4`. Long values are shortened.
    public var description: String { "\(Self.text(before)) -> \(Self.text(after))" }

    private static func text(_ value: JSON) -> String {
        let text = value.written
        return text.utf8.count <= 1000 ? text : text.prefix(900) + "..."
    }
}

/// The settings of the service that clients have changed. They outlive a restart.
extension Store {
    /// The stored values, by the names of the settings.
    public func settings() async throws(StoreError) -> [String: JSON] {
        settingsFollower.forget()
        return try await read { try Self.settings(in: $0) }
    }

    /// Stores the settings in one commit, each with an entry of the audit log. A setting that already has its value is left
    /// out.
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

    /// The settings of any database, also if it has no tables yet.
    package static func storedSettings(in db: SQLConnection) throws -> [String: JSON] {
        try db.hasTable("service_settings") ? settings(in: db) : [:]
    }

    /// A value that is no JSON is `null` here, which no setting accepts.
    static func settings(in db: SQLConnection) throws -> [String: JSON] {
        try db.rows("SELECT name, value FROM service_settings").reduce(into: [:]) { settings, row in
            let value: String = try row["value"]
            settings[try row["name"]] = (try? JSON(parsing: value)) ?? .null
        }
    }
}

extension Transaction {
    /// - Returns: nil if nothing changes.
    func changeSetting(_ new: NewSetting, audit note: AuditNote?) throws -> SettingChange? {
        let row = try row("SELECT value FROM service_settings WHERE name = ?", [new.name])
        let stored = try row.map { row in
            let value: String = try row["value"]
            return (try? JSON(parsing: value)) ?? .null
        }
        guard stored != new.value else { return nil }
        if let value = new.value {
            try run(
                """
                INSERT INTO service_settings (name, value, changed_at) VALUES (?1, ?2, ?3)
                ON CONFLICT (name) DO UPDATE SET value = ?2, changed_at = ?3
                """, [new.name, value.written, now.milliseconds])
        } else {
            try run("DELETE FROM service_settings WHERE name = ?", [new.name])
        }
        try noteChangedSettings()
        let change = SettingChange(
            name: new.name, before: stored ?? new.start, after: new.value ?? new.start, stored: new.value)
        try audit(note, target: new.name, change: change.description)
        wake(.schedule)
        wake(.settings)
        return change
    }
}

/// Makes each group commit begin with the settings that clients have set at other services. So a job that begins after the
/// answer to a change follows the change, at whichever service it begins.
///
/// Notices between services would come too late for that. They are for services that commit nothing.
final class SettingsFollower: Sendable {
    private struct State {
        /// The version that `observer` was given last; nil if it may have been given other settings since.
        var followed: Int64?
        var observer: (@Sendable ([String: JSON]) -> Void)?
    }

    private let state = Locked(State())

    func observe(_ observer: (@Sendable ([String: JSON]) -> Void)?) {
        state.withLock { $0 = State(observer: observer) }
    }

    /// The observer learns of settings in another way, which can be outdated at once. The next group reads them in any case.
    func forget() { state.withLock { $0.followed = nil } }

    /// nil if it knows this version. The version is noted before the settings are read, so that a `forget()` in between
    /// counts.
    private func observer(of version: Int64) -> (@Sendable ([String: JSON]) -> Void)? {
        state.withLock { state in
            guard state.observer != nil, state.followed != version else { return nil }
            state.followed = version
            return state.observer
        }
    }

    /// Called at the beginning of a group. The settings are those of earlier commits, so it does no harm if the group
    /// itself fails.
    func follow(_ version: Int64, in db: SQLConnection) throws {
        guard let observer = observer(of: version) else { return }
        do {
            observer(try Store.settings(in: db))
        } catch {
            forget()
            throw error
        }
    }
}

extension Store {
    /// Calls `observer` at the beginning of a group commit if a client has changed settings since the one before, here or
    /// at another service. Never calls it on SQLite. The observer must return quickly: it delays the writer.
    ///
    /// - Parameter observer: receives all stored values; nil: ends the calls.
    public func observeSettings(_ observer: (@Sendable ([String: JSON]) -> Void)?) {
        settingsFollower.observe(observer)
    }
}
