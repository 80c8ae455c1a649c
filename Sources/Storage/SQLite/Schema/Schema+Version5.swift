/// Version 5: digests.
extension Schema {
    /// `parts.digests` has the digests of the server as JSON; NULL when it sent none. `jobs.disproved`: bytes of
    /// several attempts had a wrong digest together, and the job has started from zero.
    static let digests = """
        ALTER TABLE parts ADD COLUMN digests TEXT;
        ALTER TABLE jobs ADD COLUMN disproved INTEGER NOT NULL DEFAULT 0 CHECK (disproved IN (0, 1));

        """
}
