/// Version 13: secrets are sealed.
extension Schema {
    /// One row. `step` is what remains to be done with the secrets of an earlier version: `seal` them, `vacuum` the file so
    /// that no copy is left in its free space, or nothing (`done`). `key_check` is a sealed text by which a start recognizes
    /// the key; NULL before the store has a key, and after its key was lost.
    static let sealing = """
        CREATE TABLE sealing (
            id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            step TEXT NOT NULL CHECK (step IN ('seal', 'vacuum', 'done')),
            key_check TEXT
        ) STRICT;
        INSERT INTO sealing (id, step)
        SELECT 1, CASE WHEN EXISTS (SELECT 1 FROM history WHERE commits > 0) OR EXISTS (SELECT 1 FROM jobs)
            OR EXISTS (SELECT 1 FROM webhooks) OR EXISTS (SELECT 1 FROM sqlite_sequence)
            OR (SELECT count(*) FROM sessions) > 1 THEN 'seal' ELSE 'done' END;

        """
}
