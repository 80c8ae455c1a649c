import Downloads
import Formats

extension Transaction {
    /// - Returns: nil if nothing changes.
    func changeSetting(_ new: NewSetting, audit note: AuditNote?) throws -> SettingChange? {
        let row = try row("SELECT value FROM service_settings WHERE name = ?", [new.name])
        let stored = row.map { (try? JSON(parsing: $0["value"] as String)) ?? .null }
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
        // Every group commit compares this number with that of the settings it knows (`SettingsFollower`).
        if node != nil { try run("UPDATE journal SET settings = settings + 1 WHERE id = 1") }
        let change = SettingChange(
            name: new.name, before: stored ?? new.start, after: new.value ?? new.start, stored: new.value)
        try audit(note, target: new.name, change: change.description)
        wake(.schedule)
        wake(.settings)
        return change
    }
}
