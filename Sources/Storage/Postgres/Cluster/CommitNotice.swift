import Downloads

/// What a node tells the others about a commit: which kinds of work are due, and which jobs it has changed.
///
/// It travels as the payload of a notification of PostgreSQL, which has less than 8,000 bytes.
struct CommitNotice: Sendable, Equatable {
    enum Jobs: Sendable, Equatable {
        case these(Set<JobID>)
        /// Too many for a notice, or all.
        case any
    }

    var work: Set<WorkKind> = []
    var jobs = Jobs.these([])
}

extension CommitNotice {
    /// The commit that a notice belongs to.
    struct Origin: Sendable, Equatable {
        /// `journal.commits` after the commit; 0 if it is not a commit of changes.
        var position: Int64
        var node: Int64
    }

    /// `17 2 jb job_01...,job_02...`: the position, the node, the kinds of work and the jobs; `*` for any job.
    func text(from origin: Origin) -> String {
        let kinds = work.map(\.rawValue).sorted().joined()
        return "\(origin.position) \(origin.node) \(kinds) \(jobsText)"
    }

    private var jobsText: String {
        guard case .these(let ids) = jobs else { return "*" }
        let text = ids.map(\.text).sorted().joined(separator: ",")
        return text.utf8.count <= Self.longestList ? text : "*"
    }

    private static let longestList = 7000

    /// - Returns: nil if the text is no notice.
    static func parse(_ text: String) -> (origin: Origin, notice: CommitNotice)? {
        let fields = text.split(separator: " ", omittingEmptySubsequences: false)
        guard fields.count == 4, let position = Int64(fields[0]), let node = Int64(fields[1]) else { return nil }
        var notice = CommitNotice(work: Set(fields[2].compactMap { WorkKind(rawValue: String($0)) }))
        notice.jobs = fields[3] == "*" ? .any : .these(Set(fields[3].split(separator: ",").map { JobID(String($0)) }))
        return (Origin(position: position, node: node), notice)
    }
}
