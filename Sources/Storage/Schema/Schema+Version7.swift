/// What it takes to notice that the clock has jumped, and to get over it.
extension Schema {
    /// `clock`: the last reading of the wall clock (`time`), together with the milliseconds since the machine was started
    /// and which start that was; `last_event` is what the journal had come to. `clock_jumps`: when the service followed a
    /// jump, on the present clock, by how many milliseconds, and the last event before it.
    ///
    /// `parts_short_lived` has the parts that may expire within the hour after a start or a jump.
    ///
    /// `jobs.deadline` is that of the job's specification: it stays where `resource_until` moves.
    static let clock = """
        CREATE TABLE clock (
            id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            time INTEGER NOT NULL,
            uptime INTEGER NOT NULL CHECK (uptime >= 0),
            boot TEXT,
            last_event INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE clock_jumps (
            number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
            last_event INTEGER NOT NULL,
            at INTEGER NOT NULL,
            by INTEGER NOT NULL CHECK (by <> 0)
        ) STRICT;
        CREATE INDEX clock_jumps_by_event ON clock_jumps (last_event);
        CREATE INDEX parts_short_lived ON parts (expires_at) WHERE expires_at IS NOT NULL AND lifetime < 3600000;
        ALTER TABLE jobs ADD COLUMN deadline INTEGER;
        UPDATE jobs SET deadline = CAST(round((json_extract(spec, '$.deadline') + 978307200) * 1000) AS INTEGER)
            WHERE json_extract(spec, '$.deadline') IS NOT NULL;

        """
}
