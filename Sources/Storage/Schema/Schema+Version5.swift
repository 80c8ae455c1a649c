/// What files have to hash to.
extension Schema {
    /// `parts.digests` is what the server said, as JSON; NULL where it said nothing. `jobs.disproved`: bytes of several
    /// attempts were put together to a whole that was wrong, and the job has begun anew.
    static let digests = """
        ALTER TABLE parts ADD COLUMN digests TEXT;
        ALTER TABLE jobs ADD COLUMN disproved INTEGER NOT NULL DEFAULT 0 CHECK (disproved IN (0, 1));

        """
}
