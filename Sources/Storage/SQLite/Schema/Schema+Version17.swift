/// Version 17: the history of throughput.
extension Schema {
    /// The bytes that all transfers together have received in one minute, which is counted from 1970 (UTC). A minute without
    /// bytes has no row.
    static let throughput = """
        CREATE TABLE throughput (
            minute INTEGER NOT NULL PRIMARY KEY,
            bytes INTEGER NOT NULL CHECK (bytes > 0)
        ) STRICT;

        """
}
