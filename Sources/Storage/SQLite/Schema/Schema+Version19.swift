/// Version 19: the node of a cluster on which a job runs, and which has the file of a job that has succeeded. NULL in a
/// database of one service.
extension Schema {
    static let nodes = """
        ALTER TABLE jobs ADD COLUMN node INTEGER;

        """
}
