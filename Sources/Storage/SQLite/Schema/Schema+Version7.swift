/// Version 7: the stored clock.
extension Schema {
    /// `clock`: the last reading of the wall clock (`time`), the milliseconds since the start of the machine, and the
    /// identifier of that start; `last_event` is the last event before it. `clock_jumps`: the time of each followed
    /// jump on the present clock, its milliseconds, and the last event before it.
    ///
    /// `parts_short_lived` has the parts that may expire within the first hour after a start or a jump.
    ///
    /// `jobs.deadline` is the deadline of the specification. A jump moves `resource_until` and not the deadline.
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
