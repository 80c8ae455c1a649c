/// Version 15: the settings that clients have changed, and what changes of settings replaced.
extension Schema {
    /// `service_settings`: `value` is JSON. A setting without a row has the value with which the service was started.
    ///
    /// `audit.change`: the value before and the value after, for a change of a setting.
    static let serviceSettings = """
        CREATE TABLE service_settings (
            name TEXT NOT NULL PRIMARY KEY,
            value TEXT NOT NULL,
            changed_at INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        ALTER TABLE audit ADD COLUMN change TEXT;

        """
}
