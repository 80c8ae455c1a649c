/// Parts whose sync failed.
extension Schema {
    /// `jobs.sync_failed`: the last attempt wrote bytes that could not be synced; the next one says so at its beginning.
    static let failedSyncs = """
        ALTER TABLE jobs ADD COLUMN sync_failed INTEGER NOT NULL DEFAULT 0 CHECK (sync_failed IN (0, 1));

        """
}
