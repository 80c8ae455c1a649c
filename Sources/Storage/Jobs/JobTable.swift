import Downloads
import Formats
import HTTPSemantics

/// The table `jobs`: each column with the value that it has of a job. A job is read by the positions of the columns in a row of
/// `JobRow.select`, because a look for the name of a column takes longer than everything else that reads a job.
///
/// - `deadline` is that of the specification. A jump of the clock moves `resource_until` and not the deadline.
/// - `part_lost`, `sync_failed`: the next attempt reports the loss when it begins.
/// - `disproved`: bytes of several attempts had a wrong digest together, and the job has started from zero.
/// - `token`: the token that created the job; NULL: another caller. Most jobs have none, so its index costs them nothing.
/// - `trace`: `traceparent`, and after a blank `tracestate` if there is one (W3C Trace Context).
/// - `queue_rank` is NULL for a job that was never moved: its identifier is its rank. Moved jobs are few and have their own indexes.
///   `jobs_moved` finds the neighbours of a place in any state.
/// - `node`: the node of a cluster on which a job runs, and which has the file of a job that has succeeded. NULL in a database of
///   one service.
/// - `admissions`: how often a job was admitted. It identifies the attempt of a running job.
/// - `times_held_off`: how often the host of the job held off an attempt, which was not counted.
/// - `wait_location`: the location for whose disk a job waits, with the reasons `space` and `storage`.
/// - `stated_digests`: the digests that servers of the job have stated for the present version of the file.
struct JobTable: Sendable {
    static let jobs = JobTable()

    let id, session, batch, state, revision, spec, reason, retryAt, failure, promotion, finish: Int
    let attempts, failuresInARow, resumeDecision, resumeOffset, resumeWhy, createdAt, startedAt, finishedAt: Int
    let mirror, resourceUntil, resourceLeft, isPartLost, isCorrupt, hasSyncFailed, stated: Int
    let token, trace, queueRank, gid, node, admissions, timesHeldOff, waitLocation: Int
    let columns: RowColumns<Job>

    private init() {
        let states = "'queued', 'running', 'waiting', 'paused', 'succeeded', 'failed', 'cancelled'"
        let reasons = "'retry', 'network', 'space', 'storage', 'credentials', 'url'"
        let hasResourceTime = "fails_at IS NOT NULL AND resource_until IS NOT NULL"
        var all = RowColumns<Job>()
        id = all.add(.text("id", "NOT NULL PRIMARY KEY"), .fixed) { $0.id.text }
        session = all.add(.text("session", "NOT NULL REFERENCES sessions (id)"), .fixed) { $0.session.text }
        batch = all.add(.integer("batch", "NOT NULL"), .initial) { $0.batch }
        state = all.add(.text("state", "NOT NULL CHECK (state IN (\(states)))"), .initial) { $0.state.name.rawValue }
        revision = all.add(
            .moved(
                "revision", "NOT NULL CHECK (revision >= 1)",
                by: .to("revision + 1", where: "retry_at IS NOT NULL")), .initial
        ) { $0.revision }
        spec = all.add(.sealed("spec", "NOT NULL"), .initial, ifChanged: { $0.spec != $1.spec }) {
            try $1.sealer.text($0.spec, of: $0.id)
        }
        all.add(.integer("priority", "NOT NULL CHECK (priority BETWEEN 0 AND 2)"), .initial, isRead: false) { $0.rank }
        all.add(.text("host", "NOT NULL"), .initial, isRead: false, ifChanged: { $0.url != $1.url }) { job, _ in
            URLRule.hostAndPort(of: job.url)
        }
        reason = all.add(.text("reason", "CHECK (reason IN (\(reasons)))")) { $0.state.wait?.name.rawValue }
        retryAt = all.add(.moved("retry_at", by: .where("retry_at IS NOT NULL"))) { $0.state.wait?.until?.milliseconds }
        failure = all.add(.text("failure"), ifChanged: { $0.stateFailure != $1.stateFailure }) { job, _ in
            try job.stateFailure.map(RowCoding.text)
        }
        promotion = all.add(.sealed("promotion"), ifChanged: { $0.state.finalizePlan != $1.state.finalizePlan }) {
            job, change in
            job.state.finalizePlan.map { change.sealer.text($0, of: job.id) }
        }
        finish = all.add(.sealed("finish"), ifChanged: { $0.state.finish != $1.state.finish }) { job, change in
            job.state.finish.map { change.sealer.text($0, of: job.id) }
        }
        all.add(.integer("file_size", "CHECK (file_size >= 0)"), isRead: false) { $0.state.finish?.file.size }
        attempts = all.add(.count("attempts", "DEFAULT 0")) { $0.attempts }
        failuresInARow = all.add(.count("failures_in_a_row", "DEFAULT 0")) { $0.failuresInARow }
        resumeDecision = all.add(
            .text("resume_decision", "CHECK (resume_decision IN ('fresh', 'resumed', 'restarted'))")
        ) { $0.resume?.decision }
        resumeOffset = all.add(.integer("resume_offset")) { $0.resume?.offset }
        resumeWhy = all.add(.text("resume_why")) { $0.resume?.why?.rawValue }
        createdAt = all.add(.integer("created_at", "NOT NULL"), .fixed) { $0.createdAt.milliseconds }
        startedAt = all.add(.integer("started_at")) { $0.startedAt?.milliseconds }
        finishedAt = all.add(.integer("finished_at")) { $0.finishedAt?.milliseconds }
        mirror = all.add(.count("mirror", "DEFAULT 0")) { $0.mirror }
        all.add(.integer("held_until"), .initial, isRead: false, ifChanged: { $0.mayBeHeld(unlike: $1) }) {
            $1.heldUntil($0)?.milliseconds
        }
        all.add(
            .moved(
                "fails_at",
                by: .to(
                    "CASE WHEN deadline < resource_until + ?1 THEN deadline ELSE resource_until + ?1 END",
                    where: hasResourceTime)), .initial, isRead: false
        ) { $0.failsAt?.milliseconds }
        resourceUntil = all.add(.moved("resource_until", by: .where(hasResourceTime))) {
            $0.resourceTime?.end?.milliseconds
        }
        resourceLeft = all.add(.integer("resource_left")) { $0.resourceTime?.leftMilliseconds }
        isPartLost = all.add(.flag("part_lost")) { $0.isPartLost }
        isCorrupt = all.add(.flag("disproved")) { $0.isCorrupt }
        hasSyncFailed = all.add(.flag("sync_failed")) { $0.hasSyncFailed }
        all.add(.integer("deadline"), .initial, isRead: false) { $0.spec.deadline?.milliseconds }
        token = all.add(.text("token"), .fixed) { $0.token?.text }
        trace = all.add(.text("trace"), .fixed) { $0.trace?.stored }
        queueRank = all.add(.text("queue_rank")) { $0.queueRank?.text }
        gid = all.add(.text("gid"), .fixed) { $0.gid?.description }
        node = all.add(.integer("node", since: 19)) { $0.node }
        admissions = all.add(.integer("admissions", "NOT NULL DEFAULT 0", since: 19)) { $0.admissions }
        timesHeldOff = all.add(.integer("times_held_off", "NOT NULL DEFAULT 0", since: 22)) { $0.timesHeldOff }
        stated = all.add(.text("stated_digests", since: 26), ifChanged: { $0.stated != $1.stated }) { job, _ in
            try job.stated.map(RowCoding.text)
        }
        waitLocation = all.add(.text("wait_location", since: 27)) { $0.state.wait?.location?.text }
        columns = all
    }
}

extension Schema {
    static let jobs = Table(
        name: "jobs", columns: JobTable.jobs.columns.columns,
        constraints: [
            "FOREIGN KEY (session, batch) REFERENCES batches (session, number)",
            "CHECK ((state = 'waiting') = (reason IS NOT NULL))",
            "CHECK ((retry_at IS NOT NULL) = (reason IS NOT NULL AND reason IN ('retry', 'network', 'space', 'storage')))",
            "CHECK ((state IN ('waiting', 'failed')) = (failure IS NOT NULL))",
            "CHECK (promotion IS NULL OR state = 'running')", "CHECK ((state = 'succeeded') = (finish IS NOT NULL))",
            "CHECK ((state = 'succeeded') = (file_size IS NOT NULL))",
            "CHECK ((state IN ('succeeded', 'failed', 'cancelled')) = (finished_at IS NOT NULL))",
        ],
        indexes: jobIndexes,
        storage: "fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02",
        sealedBy: ["id"])

    /// The queue has two indexes for each lane: one to take the first job, one to find a host with a free connection.
    ///
    /// The indexes for lists by state let a list of a rare state read no other jobs. They are partial: a job changes few of them on its
    /// way, and SQLite considers them only for queries that name their condition. Otherwise it would prefer them to the indexes of the
    /// queue. `jobs_not_running_by_session` has the columns that `SessionCounts.counted` reads.
    private static let jobIndexes = [
        Index("jobs_running", "session", "host", where: "state = 'running'"),
        Index("jobs_running_by_age", "id", "session", where: "state = 'running'"),
        Index("jobs_waiting", "retry_at", where: "retry_at IS NOT NULL"),
        Index(
            "jobs_blocked", "session", "id", where: "reason IN ('credentials', 'url')", formerName: "jobs_helpless"),
        Index("jobs_by_session", "session", "id"),
        Index("jobs_scheduled", "held_until", where: "held_until IS NOT NULL", formerName: "jobs_held"),
        Index("jobs_by_fail_time", "fails_at", where: "fails_at IS NOT NULL", formerName: "jobs_pressed"),
        Index("jobs_not_running", "state", "id", where: "state <> 'running'", formerName: "jobs_resting"),
        Index(
            "jobs_not_running_by_session", "session", "state", "id", "batch", "file_size", where: "state <> 'running'",
            formerName: "jobs_resting_by_session"),
        Index("jobs_failed", "session", "batch", "id", where: "state = 'failed'"),
        Index("jobs_by_token", "token", "state", where: "token IS NOT NULL"),
        Index(
            "jobs_queue_by_age", "priority", "session", "id", "host", where: QueueLane.unmoved.condition,
            isOfQueue: true),
        Index(
            "jobs_queue_by_host", "priority", "session", "host", "id", where: QueueLane.unmoved.condition,
            isOfQueue: true),
        Index(
            "jobs_moved_by_rank", "priority", "session", "queue_rank", "id", "host", where: QueueLane.moved.condition,
            isOfQueue: true),
        Index(
            "jobs_moved_by_host", "priority", "session", "host", "queue_rank", "id", where: QueueLane.moved.condition,
            isOfQueue: true),
        Index("jobs_moved", "session", "priority", "queue_rank", where: "queue_rank IS NOT NULL"),
        Index("jobs_by_gid", "session", "gid", where: "gid IS NOT NULL", isUnique: true),
        Index(
            "jobs_waiting_for_location", "wait_location", "retry_at", where: "wait_location IS NOT NULL", since: 27),
    ]

    static let jobTags = Table(
        name: "job_tags",
        columns: [
            .text("tag", "NOT NULL"), .text("job", "NOT NULL REFERENCES jobs (id) ON DELETE CASCADE"),
            .text("session", "NOT NULL DEFAULT ''"),
        ],
        key: ["tag", "job"],
        indexes: [Index("job_tags_by_job", "job"), Index("job_tags_by_session", "session", "tag", "job")],
        isOrderedByKey: true)
}

extension Job {
    /// The cause of a wait, or the failure of a job that has failed.
    fileprivate var stateFailure: Failure? { state.failure ?? state.wait?.cause }

    public var rank: Int { (spec.priority ?? .normal).rank }

    /// Whether `held_until` can differ from that of the stored version. Most jobs are never held, and a change of them names
    /// no column of its index.
    fileprivate func mayBeHeld(unlike stored: Job) -> Bool {
        let isQueued = state.name == .queued
        return spec.notBefore != stored.spec.notBefore
            || spec.notBefore != nil && isQueued != (stored.state.name == .queued)
    }
}

extension ResumeOutcome {
    fileprivate var decision: String {
        switch self {
        case .fresh: "fresh"
        case .resumed: "resumed"
        case .restarted: "restarted"
        }
    }

    fileprivate var offset: Int64? { if case .resumed(let offset, _) = self { offset } else { nil } }

    fileprivate var why: RestartReason? {
        switch self {
        case .fresh: nil
        case .resumed(_, let why): why
        case .restarted(let why): why
        }
    }
}

extension TraceContext {
    /// The column `trace`.
    var stored: String { state.map { "\(parent) \($0)" } ?? parent }

    init?(stored text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard let parent = parts.first else { return nil }
        self.init(parent: String(parent), state: parts.count > 1 ? String(parts[1]) : nil)
    }
}
