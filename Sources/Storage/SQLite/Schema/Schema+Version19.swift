/// Version 19.
///
/// - `node`: the node of a cluster on which a job runs, and which has the file of a job that has succeeded. NULL in a database of
///   one service.
/// - `admissions`: how often a job was admitted. It identifies the attempt of a running job.
extension Schema {
    static let nodes = """
        ALTER TABLE jobs ADD COLUMN node INTEGER;
        ALTER TABLE jobs ADD COLUMN admissions INTEGER NOT NULL DEFAULT 0;

        """
}
