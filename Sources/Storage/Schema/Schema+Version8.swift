/// What the database says about itself, to be compared with the mark beside it.
extension Schema {
    /// One row. `identity` is another one after a restore. `commits` counts those that changed anything. `began_at`: when
    /// the database was made or restored; files of parts that are older are of another one. NULL where that is not known:
    /// the database is from an earlier version. `last_id`: identifiers up to it were given before a restore.
    ///
    /// `given_batches`: of each session, the last batch number that was given before a restore.
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
