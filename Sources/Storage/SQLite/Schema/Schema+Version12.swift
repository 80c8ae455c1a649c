/// Version 12: tokens, what jobs they have created, and the audit log.
extension Schema {
    /// `tokens.digest` is the SHA-256 of the secret, and `former_digest` that of the previous secret while it is still
    /// accepted. `sessions` is a JSON array of patterns; NULL: all sessions.
    ///
    /// `jobs.token` is the token that created the job; NULL: another caller, or an earlier version. Most jobs have none, so
    /// the index costs them nothing. `token_bytes`: the bytes that the jobs of a token have received on a day (UTC), as the
    /// number of days since 1970.
    ///
    /// `audit`: refusals and administrative changes. `caller` is the identifier of a token, or NULL. Equal refusals of a
    /// minute share a row.
    static let tokens = """
        CREATE TABLE tokens (
            id TEXT NOT NULL PRIMARY KEY,
            digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),
            former_digest BLOB UNIQUE CHECK (length(former_digest) = 32),
            former_until INTEGER,
            name TEXT,
            scope TEXT NOT NULL CHECK (scope IN ('read', 'jobs', 'sessions', 'admin')),
            sessions TEXT,
            quotas TEXT,
            created_at INTEGER NOT NULL,
            expires_at INTEGER,
            last_used_at INTEGER,
            CHECK ((former_digest IS NULL) = (former_until IS NULL)),
            CHECK (scope <> 'admin' OR sessions IS NULL)
        ) STRICT;
        ALTER TABLE jobs ADD COLUMN token TEXT;
        CREATE INDEX jobs_by_token ON jobs (token, state) WHERE token IS NOT NULL;
        CREATE TABLE token_bytes (
            token TEXT NOT NULL,
            day INTEGER NOT NULL,
            bytes INTEGER NOT NULL CHECK (bytes >= 0),
            PRIMARY KEY (token, day)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE audit (
            id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            time INTEGER NOT NULL,
            caller TEXT,
            name TEXT,
            address TEXT NOT NULL,
            action TEXT NOT NULL,
            target TEXT,
            outcome TEXT NOT NULL,
            reason TEXT,
            count INTEGER NOT NULL DEFAULT 1 CHECK (count >= 1)
        ) STRICT;
        CREATE INDEX audit_by_time ON audit (time);

        """
}
