/// The queue of a session and priority has two lanes, each with its own indexes: the jobs that were never moved, whose rank
/// is their identifier, and those that a client has moved.
enum QueueLane: CaseIterable {
    case unmoved, moved

    /// The index of the lane's jobs in their order. The statement names it: SQLite would take the index of all moved jobs,
    /// which also has those that have ended.
    var index: String {
        switch self {
        case .unmoved: "jobs_queue_by_age"
        case .moved: "jobs_moved_by_rank"
        }
    }

    /// The column with the rank.
    var rank: String {
        switch self {
        case .unmoved: "id"
        case .moved: "queue_rank"
        }
    }

    /// The rank of the job `firsts.id`.
    var rankOfFirst: String {
        switch self {
        case .unmoved: "firsts.id"
        case .moved: "(SELECT queue_rank FROM jobs WHERE jobs.id = firsts.id)"
        }
    }

    /// The column as the lane's indexes order it. It is compared by its bytes in any case. PostgreSQL keeps the plans of
    /// statements while the table grows, and could keep one that reads all jobs in the order of another index. Only the
    /// indexes of the queue have this order there (`PostgresSchema.version20`).
    func ordered(_ column: String) -> String { "\(column) COLLATE BINARY" }

    /// The jobs of the lane in the session `:session` with the priority `:priority`.
    var ofSession: String { "\(condition) AND priority = :priority AND \(ordered("session")) = :session" }

    /// The condition of the lane's indexes.
    var condition: String {
        switch self {
        case .unmoved: "state = 'queued' AND held_until IS NULL AND queue_rank IS NULL"
        case .moved: "state = 'queued' AND held_until IS NULL AND queue_rank IS NOT NULL"
        }
    }
}
