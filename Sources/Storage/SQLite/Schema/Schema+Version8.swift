/// Version 8: what the database records about itself. A start compares it with the mark.
extension Schema {
    /// One row. A restore sets a new `identity`. `commits` counts the commits that changed data. `began_at`: when the
    /// database was created or restored; older part files belong to another database. NULL when an earlier version
    /// created the database. `last_id`: the largest identifier that was assigned before a restore.
    ///
    /// `given_batches`: for each session, the number of the last batch before a restore.
    static let history = """
        CREATE TABLE history (
            identity TEXT NOT NULL,
            commits INTEGER NOT NULL CHECK (commits >= 0),
            began_at INTEGER,
            last_id TEXT
        ) STRICT;
        CREATE TABLE given_batches (
            session TEXT NOT NULL PRIMARY KEY,
            number INTEGER NOT NULL
        ) STRICT;

        """
}
